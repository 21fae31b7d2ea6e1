/** "Parameters" in the contract: a missing value made into text is not sent, however deep it stands in a JSON parameter. */

import { LINK } from '../../support/parameters';
import { itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

it.each([
	{ meta: { name: 'undefined' } },
	{ tags: ['a', '[object Object]'] },
	{ meta: { list: [{ at: 'Invalid Date' }] } },
])("'Custom Fields' with it are refused by name: %j", async (customFields) => {
	const parameters = { ...LINK, options: { customFields: '={{ $json.custom }}' } };
	const { error } = await service.run(parameters, { items: itemsOf({ custom: customFields }) });
	expect(error?.message).toContain("'Custom Fields'");
	expect(service.lines()).toEqual([]);
});
