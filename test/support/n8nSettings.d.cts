declare function setN8nUp(): () => void;
export = setN8nUp;
