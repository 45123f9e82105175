import { Context } from "effect"

/** A route whose operation is named by its address, as those of plugins are. */
export interface Addressed {
  readonly method: string
  /** Parameters are `:id`. */
  readonly path: string
  readonly isList: boolean
}

/** Annotation of an endpoint whose operation is named by its address. */
export class NamedByAddress
  extends Context.Service<NamedByAddress, Pick<Addressed, "isList">>()("stoa/http/docs/NamedByAddress")
{}

const camel = (text: string): string => {
  const joined = text.replace(/[^a-zA-Z0-9]+(.?)/g, (_, next: string) => next.toUpperCase())
  return `${joined.charAt(0).toLowerCase()}${joined.slice(1)}`
}

const partsOf = (path: string): ReadonlyArray<string> => path.replace(/^\/(api\/)?/, "").split("/")

const isParameter = (part: string | undefined): boolean => part?.startsWith(":") === true

const isPlural = (part = ""): boolean => /[^s]s$/.test(part)

/** What is done to the records at the address; undefined: its last part is the verb. `addresses` has all others. */
const verbOf = ({ isList, method, path }: Addressed, addresses: ReadonlyMap<string, number>): string | undefined => {
  const last = partsOf(path).at(-1)
  const hasOthers = (addresses.get(path) ?? 0) > 1
  switch (method) {
    case "GET":
      return isList ? "list" : isParameter(last) || hasOthers ? "read" : undefined
    case "POST":
      return isParameter(last) || hasOthers || isPlural(last) || partsOf(path).length === 1 ? "create" : undefined
    case "PUT":
      return "set"
    case "PATCH":
      return isParameter(last) || hasOthers ? "update" : undefined
    default:
      return "remove"
  }
}

const parametersOf = (path: string): string =>
  [...path.matchAll(/:(\w)(\w*)/g)].map(([, first = "", rest = ""]) => `${first.toUpperCase()}${rest}`).join("And")

const counted = (texts: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  texts.reduce((counts, text) => counts.set(text, (counts.get(text) ?? 0) + 1), new Map<string, number>())

/**
 * Names of operations by `METHOD /path`: the fixed parts of the address and a verb, such as `giftCards.list`. Of two that are
 * named alike those with parameters name them.
 */
export const operationNames = (routes: ReadonlyArray<Addressed>): ReadonlyMap<string, string> => {
  const addresses = counted(routes.map(({ path }) => path))
  const named = routes.map((route) => {
    const verb = verbOf(route, addresses)
    const fixed = partsOf(route.path).filter((part) => !isParameter(part)).map(camel)
    return { ...route, name: [...fixed, ...(verb === undefined ? [] : [verb])].join(".") }
  })
  const names = counted(named.map(({ name }) => name))
  return new Map(named.map(({ method, name, path }) => {
    const by = names.get(name) === 1 ? "" : parametersOf(path)
    return [`${method} ${path}`, by === "" ? name : `${name}By${by}`]
  }))
}
