/** GET /tasks/{id}/export: the formats that the service document names. */
export const EXPORT_FORMATS = ['txt', 'srt', 'vtt', 'json'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
