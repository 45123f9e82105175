/** A text as a slug: letters and digits of any script in lower case, hyphens between them. */
export const slugOf = (text: string): string =>
  text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")

const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", "\""],
  ["apos", "'"],
  ["nbsp", " "]
])

const decoded = (whole: string, name: string): string => {
  if (!name.startsWith("#")) return entities.get(name.toLowerCase()) ?? whole
  const code = name[1] === "x" || name[1] === "X" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** The readable text of HTML, for search and lists. The HTML is kept as well. */
export const plainText = (html: string): string =>
  html
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, "")
    .replace(/<(br|\/p|\/div|\/li|\/h[1-6]|\/tr)\b[^>]*>/gi, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(#?\w{1,10});/g, decoded)
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim()

/** The parts of a list between commas. */
export const commaList = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "")

/** A product description: its text, and the original HTML if there is any. */
export const descriptionOf = (html: string | undefined): object => {
  if (html === undefined) return {}
  return /<\w/.test(html) || /&\w+;/.test(html)
    ? { description: plainText(html), richDescription: { format: "html", html } }
    : { description: html }
}

/** An object without what is undefined, empty or an empty list. */
export const present = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) =>
      value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)
    )
  )
