import type { FileEncoding } from "../../domain/import-export/Import.ts"
import { PayloadTooLarge } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"

export class FileUnreadable extends invalid("FileUnreadable", "file", (message: string) => message, "unreadable") {}

/** What is known of a file while it arrives. */
export interface Arrival {
  bytes: number
  encoding?: FileEncoding
  separator?: string
}

const mebibyte = 1_048_576

const names: Readonly<Record<FileEncoding, string>> = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16",
  "utf-16be": "UTF-16",
  "windows-1252": "Windows-1252"
}

const separators: Readonly<Record<string, string>> = { ",": "commas", ";": "semicolons", "\t": "tabs" }

/** Says how a table was read, for refusals of its columns. */
export const readAs = ({ encoding = "utf-8", separator = "," }: Arrival): string =>
  `The file was read as ${names[encoding]} with ${separators[separator] ?? `the sign ${separator}`} between its cells.`

const startsWith = (head: Uint8Array, ...bytes: ReadonlyArray<number>): boolean =>
  bytes.every((byte, index) => head[index] === byte)

/** Other files that people send in the place of a table. */
const refuseOthers = (head: Uint8Array): void => {
  if (startsWith(head, 0x50, 0x4b, 0x03, 0x04) || startsWith(head, 0xd0, 0xcf, 0x11, 0xe0)) {
    throw new FileUnreadable("The file is a workbook or an archive. Save the sheet as CSV (UTF-8) and send that.")
  }
  if (startsWith(head, 0x1f, 0x8b)) throw new FileUnreadable("The file is compressed. Unpack it first.")
}

/** A mark counts before the encoding that was asked for. Without either, zeros between the letters tell UTF-16. */
const encodingOf = (head: Uint8Array, asked: FileEncoding | undefined): FileEncoding => {
  if (startsWith(head, 0xef, 0xbb, 0xbf)) return "utf-8"
  if (startsWith(head, 0xff, 0xfe)) return "utf-16le"
  if (startsWith(head, 0xfe, 0xff)) return "utf-16be"
  if (asked !== undefined) return asked
  const [first, second, third, fourth] = head
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return "utf-16le"
  return first === 0 && second !== 0 && third === 0 && fourth !== 0 ? "utf-16be" : "utf-8"
}

const undecodable = (encoding: FileEncoding, bytes: number): FileUnreadable => {
  const advice = encoding === "utf-8" ? " Save it as UTF-8, or send encoding=windows-1252 if it is Windows-1252." : ""
  return new FileUnreadable(`The file is not ${names[encoding]}, near byte ${bytes}.${advice}`)
}

const headBytes = 4

/**
 * Decodes a file and removes its byte order mark. Refuses bytes that are not of its encoding: replacement characters
 * would be stored.
 */
export async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  arrival: Arrival,
  maxBytes: number,
  asked?: FileEncoding
): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  const decode = (chunk?: Uint8Array): string => {
    const head = chunk ?? new Uint8Array()
    if (decoder === undefined) {
      refuseOthers(head)
      arrival.encoding = encodingOf(head, asked)
      decoder = new TextDecoder(arrival.encoding, { fatal: true })
    }
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw undecodable(arrival.encoding ?? "utf-8", arrival.bytes)
    }
  }
  let head: Uint8Array = new Uint8Array()
  for await (const chunk of bytes) {
    arrival.bytes += chunk.length
    if (arrival.bytes > maxBytes) throw PayloadTooLarge.of(`The file exceeds the limit of ${maxBytes / mebibyte} MB.`)
    const piece = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    head = decoder === undefined && arrival.bytes < headBytes ? piece : new Uint8Array()
    if (head.length === 0) yield decode(piece)
  }
  if (head.length > 0) yield decode(head)
  yield decode()
}
