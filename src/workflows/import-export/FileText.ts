import { tooLarge, unreadable } from "./FileRefused.ts"

/** What is counted while a file arrives. */
export interface Arrival {
  bytes: number
}

const mebibyte = 1_048_576

const hasMark = (chunk: Uint8Array, ...mark: ReadonlyArray<number>): boolean =>
  mark.every((byte, index) => chunk[index] === byte)

/** Spreadsheets often write UTF-16, and "not UTF-8" alone would not tell the user what to do. */
const refuseUtf16 = (chunk: Uint8Array): void => {
  if (hasMark(chunk, 0xff, 0xfe) || hasMark(chunk, 0xfe, 0xff)) {
    throw unreadable("The file is UTF-16. Save it as UTF-8 (in a spreadsheet: CSV UTF-8).")
  }
}

/**
 * The text of a file in chunks, without its byte order mark. Refuses bytes that are not UTF-8: replacement characters
 * would be stored.
 */
export async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  arrival: Arrival,
  maxBytes: number
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw unreadable(`The file is not UTF-8, near byte ${arrival.bytes}.`)
    }
  }
  for await (const chunk of bytes) {
    if (arrival.bytes === 0) refuseUtf16(chunk)
    arrival.bytes += chunk.length
    if (arrival.bytes > maxBytes) throw tooLarge(`The file exceeds the limit of ${maxBytes / mebibyte} MB.`)
    yield decode(chunk)
  }
  yield decode()
}
