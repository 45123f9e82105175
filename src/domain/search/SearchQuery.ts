import { Context, Effect, Layer } from "effect"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"

export interface AttributeFilter {
  readonly name: string
  readonly values: ReadonlyArray<string>
}

export interface NumberFilter {
  readonly name: string
  readonly ranges: ReadonlyArray<{ readonly from?: number; readonly to?: number }>
}

/** Hits without the number come last. */
export interface SearchOrder {
  readonly name: string
  readonly ascending: boolean
}

/** Filters with unknown values find nothing (contract §9). */
export interface SearchQuery extends PageRequest {
  /** A hit must match all words. */
  readonly q?: string | undefined
  readonly type?: string | undefined
  readonly category?: string | undefined
  readonly brand?: string | undefined
  readonly status?: string | undefined
  /** Best first; the default and all others follow. */
  readonly locales?: ReadonlyArray<string> | undefined
  readonly attributes: ReadonlyArray<AttributeFilter>
  /** For search fields of plugins that hold numbers. */
  readonly numbers?: ReadonlyArray<NumberFilter>
  /** Default: the best first. */
  readonly sort?: SearchOrder | undefined
  /** type, category, brand, status, or an attribute with or without `attr.` before it. */
  readonly facets: ReadonlyArray<string>
}

export interface SuggestionQuery {
  readonly prefix: string
  readonly type?: string | undefined
  readonly locales?: ReadonlyArray<string> | undefined
  readonly limit: number
}

/** The rest is cut off (contract §9). */
const longest = 500

export const cutText = (text: string | undefined): string | undefined => {
  const cut = Array.from(text ?? "").slice(0, longest).join("")
  return cut.trim() === "" ? undefined : cut
}

const shortest = 2

export const prefixOf = (text: string | undefined): string | undefined => {
  const cut = cutText(text)?.trimStart()
  return cut === undefined || Array.from(cut).length < shortest ? undefined : cut
}

const attributeName = /^[A-Za-z0-9_-]+$/
/** Of parameters that filter by an attribute. */
export const attributePrefix = "attr."

export const usualFacets: ReadonlyArray<string> = ["type", "category", "brand", "status"]

const mostFacets = 20

export const facetAttribute = (facet: string): string | undefined =>
  usualFacets.includes(facet)
    ? undefined
    : facet.startsWith(attributePrefix)
    ? facet.slice(attributePrefix.length)
    : facet

interface SearchDefaults {
  readonly defaultFacets: ReadonlyArray<string>
}

export class SearchSettings extends Context.Service<SearchSettings, SearchDefaults>()(
  "stoa/domain/search/SearchSettings"
) {
  static readonly layerOf = (settings: SearchDefaults) => Layer.succeed(SearchSettings, settings)
}

class InvalidParameter extends invalid(
  "Search",
  (path: string, _message: string) => path,
  (_path: string, message: string) => message
) {}

const badName = (path: string) => new InvalidParameter(path, "must name an attribute by letters, digits, _ and - only.")

export const facetsOf = (
  text: string | undefined,
  usual: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, InvalidParameter> => {
  const named = [...new Set((text ?? "").split(",").map((name) => name.trim()).filter((name) => name !== ""))]
  if (named.length > mostFacets) {
    return Effect.fail(new InvalidParameter("facets", `must have at most ${mostFacets} names.`))
  }
  const isBad = named.some((name) => !attributeName.test(facetAttribute(name) ?? "type"))
  return isBad ? Effect.fail(badName("facets")) : Effect.succeed(named.length === 0 ? usual : named)
}

/** PostgreSQL stores no NUL. */
const mostValues = 100

/**
 * Parses `attr.<name>=<value>`: values of one name are alternatives, different names must all match. 422 for an invalid
 * name (contract §9).
 */
export const attributesOf = (
  sent: Iterable<readonly [name: string, value: string]>
): Effect.Effect<ReadonlyArray<AttributeFilter>, InvalidParameter> => {
  const byName = new Map<string, Set<string>>()
  let values = 0
  for (const [parameter, value] of sent) {
    if (!parameter.startsWith(attributePrefix)) continue
    const name = parameter.slice(attributePrefix.length)
    if (!attributeName.test(name)) return Effect.fail(badName(parameter))
    if (value.includes("\0")) return Effect.fail(new InvalidParameter(parameter, "must be valid Unicode without NUL."))
    if (++values > mostValues) {
      return Effect.fail(new InvalidParameter(parameter, `at most ${mostValues} values in all`))
    }
    byName.set(name, (byName.get(name) ?? new Set()).add(value))
  }
  return Effect.succeed(Array.from(byName, ([name, found]) => ({ name, values: [...found] })))
}

const form = /^(-?\d{1,15}(?:\.\d{1,15})?)?(\.\.)?(-?\d{1,15}(?:\.\d{1,15})?)?$/

/** Parses `4`, `4..5`, `4..` or `..5`, ends included. 422 for anything else. */
export const rangesOf = ({ name, values }: AttributeFilter): Effect.Effect<NumberFilter, InvalidParameter> => {
  const ranges = values.flatMap((value) => {
    const [, from, dots, to] = form.exec(value) ?? []
    if ((from ?? to) === undefined || (dots === undefined && to !== undefined)) return []
    const last = dots === undefined ? from : to
    return [{ ...from !== undefined && { from: Number(from) }, ...last !== undefined && { to: Number(last) } }]
  })
  return ranges.length === values.length
    ? Effect.succeed({ name, ranges })
    : Effect.fail(
      new InvalidParameter(`${attributePrefix}${name}`, "must be a number, or a range such as 4..5, 4.. or ..5.")
    )
}

/** Parses `name:asc` or `name:desc`; 422 for a name that is no number of a plugin. */
export const sortOf = (
  text: string | undefined,
  isNumber: (name: string) => boolean
): Effect.Effect<SearchOrder | undefined, InvalidParameter> => {
  if (text === undefined || text === "") return Effect.undefined
  const [, name = "", direction] = /^([A-Za-z0-9_-]+):(asc|desc)$/.exec(text) ?? []
  return isNumber(name)
    ? Effect.succeed({ name, ascending: direction === "asc" })
    : Effect.fail(new InvalidParameter("sort", "must be a number that a search can sort by, with :asc or :desc."))
}

/** Without words or filters nothing is found (contract §9). */
export const asksForSomething = (query: SearchQuery): boolean =>
  query.attributes.length > 0 || (query.numbers ?? []).length > 0 ||
  [query.q, query.type, query.category, query.brand, query.status].some((part) => part !== undefined)
