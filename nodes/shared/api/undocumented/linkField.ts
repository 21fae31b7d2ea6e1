/** POST /transcribe-url: the request field for the link. Others are as in POST /transcribe. */
export const LINK_FIELD = 'url';
