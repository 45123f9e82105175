import { type Context, Liquid, LiquidError } from "liquidjs"
import { moneyText } from "stoa/plugin"

/*
 * Liquid with the tags and filters below: it reads no files, runs no code, and stops after `limits`. Values are looked up
 * among the properties that the data itself has; what is missing, and what is no text, number or boolean, is empty.
 */

const tags: ReadonlySet<string> = new Set(
  ["assign", "break", "capture", "case", "comment", "continue", "cycle", "for", "if", "unless"]
)
/** None of them is `raw`, which would leave a value unescaped. */
const filters: ReadonlySet<string> = new Set(
  [
    "abs append at_least at_most capitalize ceil default divided_by downcase first floor join last map minus modulo plus",
    "prepend remove replace reverse round size slice sort split strip times truncate truncatewords uniq upcase where"
  ].join(" ").split(" ")
)

/** Milliseconds and values of one text. */
const limits = { renderLimit: 500, memoryLimit: 1_000_000 }

/** How a text shows money and times. */
export interface Manner {
  readonly locale: string
  readonly timeZone: string
}

const localeOf = (tag: string): string => {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? "en"
  } catch {
    return "en"
  }
}

const mannerOf = ({ globals }: Context): Manner => {
  const { locale, timeZone } = globals as Partial<Manner>
  return { locale: localeOf(locale ?? "en"), timeZone: timeZone ?? "UTC" }
}

/** `{{ grandTotal | money: currency }}`: an amount in minor units. */
function money(this: { readonly context: Context }, amount: unknown, currency: unknown): string {
  if (typeof amount !== "number") return ""
  return moneyText(amount, typeof currency === "string" ? currency : "", mannerOf(this.context).locale)
}

const lengths: ReadonlyArray<unknown> = ["short", "medium", "long", "full"]
const isLength = (value: unknown): value is "short" | "medium" | "long" | "full" => lengths.includes(value)

/** `{{ placedAt | date }}`, `{{ placedAt | time: "short" }}`: an ISO 8601 time in the store's time zone; a day is that day. */
const written = (part: "dateStyle" | "timeStyle", usual: "long" | "short") =>
  function(this: { readonly context: Context }, value: unknown, length?: unknown): string {
    const at = typeof value === "string" ? Date.parse(value) : Number.NaN
    if (Number.isNaN(at)) return ""
    const { locale, timeZone } = mannerOf(this.context)
    const isDay = typeof value === "string" && value.length === 10
    return new Intl.DateTimeFormat(locale, {
      [part]: isLength(length) ? length : usual,
      timeZone: isDay ? "UTC" : timeZone
    }).format(at)
  }

const shown = (value: unknown): string => ["string", "number", "boolean"].includes(typeof value) ? String(value) : ""

const engineOf = (write: (text: string) => string): Liquid => {
  const engine = new Liquid({
    ...limits,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    outputEscape: (value: unknown) => write(shown(value))
  })
  for (const name of Object.keys(engine.tags)) if (!tags.has(name)) delete engine.tags[name]
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) delete engine.filters[name]
  engine.registerFilter("money", money)
  engine.registerFilter("date", written("dateStyle", "long"))
  engine.registerFilter("time", written("timeStyle", "short"))
  return engine
}

/** Why a template is none, with its line and column; or why its text stopped. */
const reasonOf = (error: unknown): string => {
  if (!LiquidError.is(error)) throw error
  return error.message.split("\n", 1)[0]?.slice(0, 200) ?? ""
}

export type Filled = { readonly text: string } | { readonly reason: string }

/** An engine that writes values by `write`. */
export const templateEngine = (write: (text: string) => string) => {
  const engine = engineOf(write)
  return {
    /** Why this is no template; undefined when it is one. */
    refusal: (template: string): string | undefined => {
      try {
        engine.parse(template)
        return undefined
      } catch (error) {
        return reasonOf(error)
      }
    },
    fill: (template: string, data: object, manner: Manner): Filled => {
      try {
        return { text: String(engine.parseAndRenderSync(template, data, { globals: manner })) }
      } catch (error) {
        return { reason: reasonOf(error) }
      }
    }
  }
}
