import type { IBinaryData } from 'n8n-workflow';

import { recordingName } from '../../nodes/shared/recordingName';

const nameFor = (file: Partial<IBinaryData>) => recordingName({ data: '', mimeType: '', ...file });

describe('The service gets a recording', () => {
	it.each([
		['talk.mp3', 'mp3'],
		['talk.MP3', 'mpga'],
		['interview.final.wav', 'wav'],
		['old phone.3gp', '3gp'],
		['Meeting 12.05 with Anna', '05 with Anna'],
	])('named %s (n8n: %s) under that name', (fileName, fileExtension) => {
		expect(nameFor({ fileName, fileExtension })).toBe(fileName);
	});

	it.each([
		['Team%20call.mp3', 'mp3', 'Team call.mp3'],
		['%D0%92%D1%81%D1%82%D1%80%D0%B5%D1%87%D0%B0.oga', 'oga', 'Встреча.ogg'],
		['a%2Fb%5Cc%0Ad.mp3', 'mp3', 'a_b_c_d.mp3'],
		['50%ff.mp3', 'mp3', '50%ff.mp3'],
		['100% done.mp3', 'mp3', '100% done.mp3'],
		['download', 'mp4', 'download.mp4'],
		['Meeting 12.05', 'm4a', 'Meeting 12.05.m4a'],
		['voice/file_12.oga', 'oga', 'voice/file_12.ogg'],
		['download', 'mpga', 'download.mp3'],
		['download', 'oga', 'download.ogg'],
		['download', 'qt', 'download.mov'],
		['download', 'weba', 'download.webm'],
		['download', 'adts', 'download.aac'],
		['download', 'bin', 'download'],
		['download', 'txt', 'download'],
		['download', null as never, 'download'],
		['download', undefined, 'download'],
	])('named %s (n8n: %s) as %s', (fileName, fileExtension, name) => {
		expect(nameFor({ fileName, fileExtension })).toBe(name);
	});

	it.each([
		['wav', 'recording.wav'],
		['mpga', 'recording.mp3'],
		['txt', 'recording.bin'],
		[undefined, 'recording.bin'],
	])('without a name (n8n: %s) as %s', (fileExtension, name) => {
		expect(nameFor({ fileExtension })).toBe(name);
	});
});
