/** A content type that the service can tell from a file's first bytes. */
export interface MediaType {
  readonly contentType: string
  /** Of the files of this type, without the dot. */
  readonly extension: string
  /** A raster image: its width and height are found out, and smaller versions of it are made. */
  readonly isRaster: boolean
  /** May run scripts where a browser opens it: it is given out as an attachment, in a sandbox, or not at all. */
  readonly isActive: boolean
  readonly matches: (head: Uint8Array) => boolean
}

/** Bytes of a file's beginning that are enough to tell its type. */
export const headBytes = 4_096

const ascii = (head: Uint8Array, from: number, length: number): string =>
  String.fromCharCode(...head.subarray(from, from + length))

const startsWith = (...bytes: ReadonlyArray<number>) => (head: Uint8Array): boolean =>
  bytes.every((byte, index) => head[index] === byte)

/** The brands of an ISO base media file: what its first box says that it can be read as. */
const hasBrand = (brands: ReadonlyArray<string>) => (head: Uint8Array): boolean => {
  if (ascii(head, 4, 4) !== "ftyp") return false
  const length = Math.min(new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(0), head.length)
  const named = [ascii(head, 8, 4)]
  for (let at = 16; at + 4 <= length; at += 4) named.push(ascii(head, at, 4))
  return brands.some((brand) => named.includes(brand))
}

const isAvif = hasBrand(["avif", "avis"])
const isMp4 = hasBrand(["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V ", "MSNV"])

/** What XML allows before its root element, as what it begins and ends with. */
const prologue = [["<?xml", "?>"], ["<!--", "-->"], ["<!doctype svg", ">"]] as const

/**
 * An SVG has no magic bytes: its root element is looked for behind what XML allows before one. Piece by piece, and not by
 * one expression, which whoever sends the file could make take for ever.
 */
const isSvg = (head: Uint8Array): boolean => {
  let left = new TextDecoder().decode(head).toLowerCase().trimStart()
  for (;;) {
    const piece = prologue.find(([start]) => left.startsWith(start))
    if (piece === undefined) return /^<svg[\s>]/.test(left)
    const end = left.indexOf(piece[1], piece[0].length)
    if (end === -1) return false
    left = left.slice(end + piece[1].length).trimStart()
  }
}

const known: ReadonlyArray<MediaType> = [
  {
    contentType: "image/png",
    extension: "png",
    isRaster: true,
    isActive: false,
    matches: startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
  },
  {
    contentType: "image/jpeg",
    extension: "jpg",
    isRaster: true,
    isActive: false,
    matches: startsWith(0xff, 0xd8, 0xff)
  },
  {
    contentType: "image/gif",
    extension: "gif",
    isRaster: true,
    isActive: false,
    matches: (head) => ["GIF87a", "GIF89a"].includes(ascii(head, 0, 6))
  },
  {
    contentType: "image/webp",
    extension: "webp",
    isRaster: true,
    isActive: false,
    matches: (head) => ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 4) === "WEBP"
  },
  { contentType: "image/avif", extension: "avif", isRaster: true, isActive: false, matches: isAvif },
  {
    contentType: "application/pdf",
    extension: "pdf",
    isRaster: false,
    isActive: false,
    matches: (head) => ascii(head, 0, 5) === "%PDF-"
  },
  {
    contentType: "video/mp4",
    extension: "mp4",
    isRaster: false,
    isActive: false,
    matches: (head) => isMp4(head) && !isAvif(head)
  },
  {
    contentType: "video/webm",
    extension: "webm",
    isRaster: false,
    isActive: false,
    matches: (head) => startsWith(0x1a, 0x45, 0xdf, 0xa3)(head) && ascii(head, 0, 64).includes("webm")
  },
  {
    contentType: "image/svg+xml",
    extension: "svg",
    isRaster: false,
    isActive: true,
    matches: isSvg
  }
]

/** Names of the types that a deployment may allow. */
export const knownContentTypes: ReadonlyArray<string> = known.map(({ contentType }) => contentType)

/** What may be uploaded where a deployment says nothing (contract §10). */
export const defaultContentTypes: ReadonlyArray<string> = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf"
]

/** The type of a file by its first bytes; undefined for one that none of the known types begins like. */
export const detectedType = (head: Uint8Array): MediaType | undefined => known.find(({ matches }) => matches(head))

/** The type of this name; undefined for one that the service does not know. */
export const typeNamed = (contentType: string): MediaType | undefined =>
  known.find((type) => type.contentType === contentType)

const aliases: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg", "image/x-png": "image/png" }

/** What a client says of a file that it knows nothing about. */
const unsaid: ReadonlySet<string> = new Set(["", "application/octet-stream", "binary/octet-stream"])

/** The type that a client declares for its file, in the usual spelling; undefined where it declares none. */
export const declaredType = (sent: string): string | undefined => {
  const name = (sent.split(";")[0] ?? "").trim().toLowerCase()
  return unsaid.has(name) ? undefined : aliases[name] ?? name
}
