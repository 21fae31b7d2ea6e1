/** Makes screenshots small: a picture of an editor has few colours that count, and a palette of 32 shows them. */
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOURS = 32;
/** Colour types of the PNG format that a browser writes, with their bytes for each pixel. */
const BYTES_OF_TYPE: Record<number, number> = { 2: 3, 6: 4 };
const INDEXED = 3;
/** From black to white. */
const FARTHEST = 3 * 255 ** 2;

interface Pixels {
	width: number;
	height: number;
	/** 0xRRGGBB for each pixel, row by row. */
	colours: Uint32Array;
}

/**
 * The same picture with a palette. Takes the PNGs that a browser writes: 8 bits a channel, not interlaced, opaque.
 */
export function withPalette(png: Buffer): Buffer {
	const picture = read(png);
	const palette = mostMissed(picture.colours);
	const nearest = new Map<number, number>();
	const { width, height, colours } = picture;
	const rows = Buffer.alloc((width + 1) * height);
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			const colour = colours[y * width + x] ?? 0;
			const index = nearest.get(colour) ?? indexOfNearest(palette, colour);
			nearest.set(colour, index);
			// The first byte of each row says that it is not filtered.
			rows[y * (width + 1) + x + 1] = index;
		}
	}
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header[8] = 8;
	header[9] = INDEXED;
	const entries = Buffer.from(palette.flatMap(channels));
	return Buffer.concat([
		SIGNATURE,
		chunk('IHDR', header),
		chunk('PLTE', entries),
		chunk('IDAT', deflateSync(rows, { level: 9 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

function read(png: Buffer): Pixels {
	const data: Buffer[] = [];
	let width = 0;
	let height = 0;
	let bytes = 0;
	for (let at = SIGNATURE.length; at < png.length;) {
		const length = png.readUInt32BE(at);
		const type = png.toString('latin1', at + 4, at + 8);
		const content = png.subarray(at + 8, at + 8 + length);
		if (type === 'IHDR') {
			width = content.readUInt32BE(0);
			height = content.readUInt32BE(4);
			bytes = BYTES_OF_TYPE[content[9] ?? 0] ?? 0;
			if (content[8] !== 8 || bytes === 0 || content[12] !== 0) {
				throw new Error('This PNG is not one that a browser writes');
			}
		} else if (type === 'IDAT') data.push(content);
		at += length + 12;
	}
	return {
		width,
		height,
		colours: unfilter(inflateSync(Buffer.concat(data)), width, height, bytes),
	};
}

/** Undoes what PNG calls filters: each byte was written as the difference to its neighbours. */
function unfilter(rows: Buffer, width: number, height: number, bytes: number): Uint32Array {
	const length = width * bytes;
	const colours = new Uint32Array(width * height);
	let above = new Uint8Array(length);
	for (let y = 0; y < height; y++) {
		const start = y * (length + 1);
		const filter = rows[start];
		const row = new Uint8Array(length);
		for (let i = 0; i < length; i++) {
			const left = row[i - bytes] ?? 0;
			const up = above[i] ?? 0;
			const corner = above[i - bytes] ?? 0;
			const expected = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
			row[i] = (rows[start + 1 + i] ?? 0) + expected;
		}
		for (let x = 0; x < width; x++) {
			const [red = 0, green = 0, blue = 0] = row.subarray(x * bytes, x * bytes + 3);
			colours[y * width + x] = (red << 16) | (green << 8) | blue;
		}
		above = row;
	}
	return colours;
}

function paeth(left: number, up: number, corner: number): number {
	const guess = left + up - corner;
	const distances = [left, up, corner].map((value) => Math.abs(guess - value));
	return [left, up, corner][distances.indexOf(Math.min(...distances))] ?? 0;
}

/**
 * The commonest colour, then again and again the one that would be missed most: common, and far from all that are
 * taken. So the edges of letters share a few greys, and a small icon keeps its colours.
 */
function mostMissed(colours: Uint32Array): number[] {
	const counts = new Map<number, number>();
	for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
	const left = new Map([...counts.keys()].map((colour) => [colour, Infinity]));
	const palette: number[] = [];
	while (palette.length < COLOURS && left.size > 0) {
		const weights = [...left].map(([colour, away]): [number, number] => [
			colour,
			Math.min(away, FARTHEST) * Math.sqrt(counts.get(colour) ?? 0),
		]);
		const [chosen] = weights.reduce((best, each) => (each[1] > best[1] ? each : best));
		palette.push(chosen);
		left.delete(chosen);
		for (const [colour, away] of left) left.set(colour, Math.min(away, distance(colour, chosen)));
	}
	return palette;
}

function indexOfNearest(palette: number[], colour: number): number {
	let best = 0;
	let least = Infinity;
	palette.forEach((candidate, index) => {
		const away = distance(candidate, colour);
		if (away < least) [best, least] = [index, away];
	});
	return best;
}

function distance(one: number, other: number): number {
	const others = channels(other);
	return channels(one).reduce((sum, value, at) => sum + (value - (others[at] ?? 0)) ** 2, 0);
}

function channels(colour: number): number[] {
	return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function chunk(type: string, content: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
	const framed = Buffer.alloc(body.length + 8);
	framed.writeUInt32BE(content.length, 0);
	body.copy(framed, 4);
	framed.writeUInt32BE(checksum(body), body.length + 4);
	return framed;
}

/** CRC-32, which zlib of Node 20 does not offer yet. */
function checksum(bytes: Buffer): number {
	let crc = ~0;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc >>> 0;
}
