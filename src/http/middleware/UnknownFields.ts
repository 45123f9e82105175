import { Schema, SchemaAST } from "effect"
import type { UnknownKind } from "../../domain/platform/text/Issues.ts"

/** A key of a request that its endpoint does not know, with the keys known in its place. */
export interface UnknownField {
  readonly kind: UnknownKind
  readonly path: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
}

const mostFields = 50
const deepest = 200

/** Collects unknown keys while a value is walked: the first ones with their paths, the others as a number. */
export class FieldWalk {
  readonly path: Array<string> = []
  readonly found: Array<UnknownField> = []
  count = 0

  add(known: ReadonlyArray<string>, kind: UnknownKind = "field"): void {
    if (++this.count <= mostFields) this.found.push({ kind, path: [...this.path], known })
  }

  inside(key: string, step: () => void): void {
    this.path.push(key)
    step()
    this.path.pop()
  }
}

/** Looks for unknown keys in a value; undefined for a schema that lets every key through. */
type Look = ((value: unknown, walk: FieldWalk) => void) | undefined

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Objects":
      return [...ast.propertySignatures, ...ast.indexSignatures].map(({ type }) => type)
    case "Arrays":
      return [...ast.elements, ...ast.rest]
    case "Union":
      return ast.types
    case "Suspend":
      return [ast.thunk()]
    default:
      return []
  }
}

const admitsEveryKey = ({ indexSignatures }: SchemaAST.Objects): boolean =>
  indexSignatures.some(({ parameter }) => parameter._tag === "String" && parameter.checks === undefined)

/** An object schema without fields is that of any value. */
const isSelective = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Objects" && ast.propertySignatures.length + ast.indexSignatures.length > 0 && !admitsEveryKey(ast)

/** Whether any value of the schema could have an unknown key: the free JSON of `metadata` is not walked. */
const canRefuse = (ast: SchemaAST.AST, seen: Set<SchemaAST.AST> = new Set()): boolean => {
  if (seen.has(ast)) return false
  seen.add(ast)
  return isSelective(ast) || partsOf(ast).some((part) => canRefuse(part, seen))
}

const isOf = (ast: SchemaAST.AST) => Schema.is(Schema.make<Schema.Codec<unknown>>(ast))

/** Made once for an endpoint. */
class Looks {
  readonly #known = new Map<SchemaAST.AST, Look>()

  of(ast: SchemaAST.AST): Look {
    if (this.#known.has(ast)) return this.#known.get(ast)
    const look = canRefuse(ast) ? this.#made(ast) : undefined
    this.#known.set(ast, look)
    return look
  }

  #made(ast: SchemaAST.AST): Look {
    switch (ast._tag) {
      case "Objects":
        return this.#object(ast)
      case "Arrays":
        return this.#array(ast)
      case "Union":
        return this.#union(ast)
      case "Suspend":
        return (value, walk) => this.of(ast.thunk())?.(value, walk)
      default:
        return undefined
    }
  }

  #object({ indexSignatures, propertySignatures }: SchemaAST.Objects): Look {
    const own = new Map(propertySignatures.map(({ name, type }) => [String(name), this.of(type)]))
    const names = [...own.keys()]
    const others = indexSignatures.map(({ parameter, type }) => ({ admits: isOf(parameter), look: this.of(type) }))
    return (value, walk) => {
      if (!isContainer(value) || Array.isArray(value) || walk.path.length > deepest) return
      for (const key of Object.keys(value)) {
        const other = own.has(key) ? undefined : others.find(({ admits }) => admits(key))
        const look = own.get(key) ?? other?.look
        if (other === undefined && !own.has(key)) walk.inside(key, () => walk.add(names))
        else if (look !== undefined) walk.inside(key, () => look(Reflect.get(value, key), walk))
      }
    }
  }

  #array({ elements, rest }: SchemaAST.Arrays): Look {
    const first = elements.map((element) => this.of(element))
    const [others] = rest.map((element) => this.of(element))
    return (value, walk) => {
      if (!Array.isArray(value) || walk.path.length > deepest) return
      value.forEach((entry, index) => {
        const look = index < first.length ? first[index] : others
        if (look !== undefined) walk.inside(String(index), () => look(entry, walk))
      })
    }
  }

  /** The first member that admits a value decodes it, and drops the keys of the others. */
  #union({ types }: SchemaAST.Union): Look {
    const containers = types.filter((ast) => ["Objects", "Arrays", "Union", "Suspend"].includes(ast._tag))
    const isFree = types.some((ast) => ["Any", "Unknown", "ObjectKeyword", "Declaration"].includes(ast._tag))
    const [only, ...further] = containers
    if (only !== undefined && further.length === 0 && !isFree) return this.of(only)
    const members = types.map((ast) => ({ admits: isOf(ast), look: this.of(ast) }))
    return (value, walk) => {
      if (isContainer(value)) members.find(({ admits }) => admits(value))?.look?.(value, walk)
    }
  }
}

/** What names the keys of a value that a schema would drop in silence. */
export const lookFor = (schema: Schema.Constraint): Look => new Looks().of(SchemaAST.toEncoded(schema.ast))

/** Names every field of an object, for endpoints that read none. */
export const everyField: Look = (value, walk) => {
  if (!isContainer(value) || Array.isArray(value)) return
  for (const key of Object.keys(value)) walk.inside(key, () => walk.add([]))
}

/** Key of the annotation of a query parameter that is a comma list of known names. */
const listedNames = "stoaListedNames"

/** Annotation of a query parameter that is a comma list of these names. */
export const listing = (names: ReadonlyArray<string>) => ({ [listedNames]: names })

/** An optional parameter is a union with undefined. */
const listedIn = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined =>
  SchemaAST.resolveAt<ReadonlyArray<string>>(listedNames)(ast) ??
    partsOf(ast).map(listedIn).find((names) => names !== undefined)

const namesOf = (sent: URLSearchParams, parameter: string): ReadonlySet<string> =>
  new Set(sent.getAll(parameter).flatMap((text) => text.split(",")).map((name) => name.trim()))

/** Names the parameters of a query that the endpoint does not read, and unknown names in its comma lists. */
export const queryLookFor = (query: Schema.Constraint | undefined, prefixes: ReadonlyArray<string>) => {
  const ast = query && SchemaAST.toEncoded(query.ast)
  const own = ast?._tag === "Objects" ? ast.propertySignatures : []
  const lists = new Map(own.map(({ name, type }) => [String(name), listedIn(type)]))
  const names = [...lists.keys()]
  return (sent: URLSearchParams, walk: FieldWalk): void => {
    for (const name of new Set(sent.keys())) {
      const listed = lists.get(name)
      if (listed !== undefined) {
        const unknown = [...namesOf(sent, name)].filter((one) => one !== "" && !listed.includes(one))
        for (const one of unknown) walk.inside(name, () => walk.inside(one, () => walk.add(listed, "name")))
      } else if (!lists.has(name) && !prefixes.some((prefix) => name.startsWith(prefix))) {
        walk.inside("query", () => walk.inside(name, () => walk.add(names, "parameter")))
      }
    }
  }
}
