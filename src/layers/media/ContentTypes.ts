/** Number of leading bytes that are enough to detect a content type. */
export const headBytes = 4_096

/** Types that the library names apart and that this service accepts under a wider name. */
const aliases: Readonly<Record<string, string>> = {
  "image/apng": "image/png",
  "video/x-m4v": "video/mp4"
}

/** What XML allows before its root element: opening and closing of each piece. */
const prologue = [["<?xml", "?>"], ["<!--", "-->"], ["<!doctype svg", ">"]] as const

/**
 * SVG has no magic bytes, so this looks for its root element behind the prologue. It goes piece by piece, because the
 * sender could make one regular expression take very long.
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

/** Detects the content type of a file by its first bytes (`headBytes`); undefined for an unknown one. */
export const detectContentType = async (head: Uint8Array): Promise<string | undefined> => {
  if (isSvg(head)) return "image/svg+xml"
  // Loaded with the first file: most processes receive none.
  const { fileTypeFromBuffer } = await import("file-type")
  const found = await fileTypeFromBuffer(head)
  return found === undefined ? undefined : aliases[found.mime] ?? found.mime
}
