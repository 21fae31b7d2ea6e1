/** The pictures of the documentation lose bytes on their way from the browser, and no colours that count. */
import { deflateSync, inflateSync } from 'node:zlib';

import { withPalette } from '../../scripts/palette';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const WIDTH = 3;

/** A PNG as a browser writes it: three bytes a pixel. `rows` begin with the number of their filter. */
function png(rows: number[][]): Buffer {
	const header = Buffer.from([0, 0, 0, WIDTH, 0, 0, 0, rows.length, 8, 2, 0, 0, 0]);
	const data = deflateSync(Buffer.from(rows.flat()));
	return Buffer.concat([SIGNATURE, part('IHDR', header), part('IDAT', data)]);
}

function part(type: string, content: Buffer): Buffer {
	const length = Buffer.alloc(4);
	length.writeUInt32BE(content.length);
	return Buffer.concat([length, Buffer.from(type, 'latin1'), content, Buffer.alloc(4)]);
}

/** The colours of a PNG with a palette, row by row. */
function coloursOf(picture: Buffer): string[][] {
	const parts = new Map<string, Buffer>();
	for (let at = SIGNATURE.length; at < picture.length;) {
		const length = picture.readUInt32BE(at);
		parts.set(
			picture.toString('latin1', at + 4, at + 8),
			picture.subarray(at + 8, at + 8 + length),
		);
		at += length + 12;
	}
	const palette = parts.get('PLTE') ?? Buffer.alloc(0);
	const rows = inflateSync(parts.get('IDAT') ?? Buffer.alloc(0));
	return Array.from({ length: rows.length / (WIDTH + 1) }, (_, y) =>
		[...rows.subarray(y * (WIDTH + 1) + 1, (y + 1) * (WIDTH + 1))].map((index) =>
			palette.subarray(index * 3, index * 3 + 3).toString('hex'),
		),
	);
}

it('keeps the colour of every pixel, whichever of the five filters the browser wrote it with', () => {
	const picture = png([
		[0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
		[1, 10, 20, 30, 30, 30, 30, 30, 30, 30],
		[2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
		[3, 5, 10, 15, 15, 15, 15, 15, 15, 15],
		[4, 0, 0, 0, 0, 0, 0, 0, 0, 0],
	]);
	const row = ['0a141e', '28323c', '46505a'];
	expect(coloursOf(withPalette(picture))).toEqual([row, row, row, row, row]);
});

it('keeps the colour of a small icon among many shades of grey', () => {
	const greys = Array.from({ length: 200 }, (_, row) => {
		const grey = row % 100;
		return [0, grey, grey, grey, grey, grey, grey, grey, grey, grey];
	});
	const rows = coloursOf(withPalette(png([...greys, [0, 255, 102, 0, 255, 255, 255, 0, 0, 0]])));
	expect(rows.at(-1)?.slice(0, 2)).toEqual(['ff6600', 'ffffff']);
});

it('refuses a picture that no browser writes', () => {
	const interlaced = png([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
	interlaced[SIGNATURE.length + 8 + 12] = 1;
	expect(() => withPalette(interlaced)).toThrow('not one that a browser writes');
});
