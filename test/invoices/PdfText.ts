import { inflateSync } from "node:zlib"

/** Texts by the number of their glyph. */
type Glyphs = ReadonlyMap<number, string>

const hexes = (text: string) => [...text.matchAll(/<([0-9a-f ]+)>/gi)].map(([, hex = ""]) => hex.replaceAll(" ", ""))
const textOf = (hex: string) => Buffer.from(hex, "hex").swap16().toString("utf16le")

/** What the glyphs of a font mean, by its map to Unicode. */
const glyphsOf = (map: string): Glyphs =>
  new Map(
    [...map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/gi)].flatMap(([, from = "0", to = ""]) =>
      hexes(to).map((hex, n) => [parseInt(from, 16) + n, textOf(hex)] as const)
    )
  )

const reference = (name: string, of: string) => new RegExp(`/${name} (\\d+) 0 R`).exec(of)?.[1] ?? ""

/** The texts of a PDF that pdfkit has drawn, one for each time that something was written. */
export const pdfTexts = (pdf: Uint8Array): ReadonlyArray<string> => {
  const file = Buffer.from(pdf).toString("latin1")
  const objects = new Map(
    [...file.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, id = "", body = ""]) => [id, body] as const)
  )
  const streamOf = (id: string) => {
    const [, bytes = ""] = /stream\n([\s\S]*)\nendstream/.exec(objects.get(id) ?? "") ?? []
    return bytes === "" ? "" : inflateSync(Buffer.from(bytes, "latin1")).toString("latin1")
  }
  const fonts = new Map(
    [...file.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = "", id = ""]) =>
      [name, glyphsOf(streamOf(reference("ToUnicode", objects.get(id) ?? "")))] as const
    )
  )
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\b(?!s)/.test(body))
  return pages.flatMap((page) => {
    let glyphs: Glyphs = new Map()
    const drawn = streamOf(reference("Contents", page))
    return [...drawn.matchAll(/\/(F\d+) [\d.]+ Tf|\[(.*?)\] TJ/g)].flatMap(([, font, text]) => {
      if (font !== undefined) glyphs = fonts.get(font) ?? glyphs
      if (text === undefined) return []
      const all = hexes(text).join("").match(/.{4}/g) ?? []
      return [all.map((hex) => glyphs.get(parseInt(hex, 16)) ?? "?").join("")]
    })
  })
}
