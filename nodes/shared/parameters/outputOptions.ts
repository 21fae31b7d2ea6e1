import type { IDataObject } from 'n8n-workflow';

import { EXPORT_FORMATS, type ExportFormat } from '../exportFormats';
import { booleanIn, choiceIn, textIn } from './checkedValues';
import type { WithNode } from './refuse';

/** What is output beside the facts. */
export interface OutputOptions {
	includeResult: boolean;
	/** Undefined if no document is exported. */
	exportFormat?: ExportFormat;
	/** A binary file, or the text in the output field `export`. */
	exportAs: 'file' | 'text';
	/** The binary field for the file. */
	property?: string;
}

/** The options of `outputOptions` in sharedFields.ts that the user has added, checked. */
export function outputOptionsOf(context: WithNode, given: IDataObject): OutputOptions {
	const formats = ['none', ...EXPORT_FORMATS] as const;
	const format = choiceIn(context, given.exportFormat, 'Export Format', formats) ?? 'none';
	return {
		includeResult: booleanIn(context, given.includeResult, 'Include Result') ?? true,
		exportFormat: format === 'none' ? undefined : format,
		exportAs: choiceIn(context, given.exportAs, 'Export As', ['file', 'text']) ?? 'file',
		property: textIn(context, given.exportBinaryPropertyName, 'Put Output File in Field'),
	};
}
