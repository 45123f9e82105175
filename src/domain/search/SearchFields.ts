import { Context, Effect, Layer, Option } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import type { EntityId } from "../platform/ids/Id.ts"

/** Entities without a value are left out. Runs in a transaction that holds their documents. */
type ValuesOf<A> = (ids: ReadonlyArray<EntityId>) => Effect.Effect<ReadonlyMap<EntityId, A>, never, CurrentActor>

/**
 * An addition of a plugin to search documents (`searchDocuments` of a manifest). `name` has up to 64 letters, digits, _
 * and -. After a change of a value call `services.search.changed`.
 */
export type SearchField =
  & { readonly name: string }
  & (
    /** Words that find entities; the first 4000 characters. */
    | { readonly kind: "text"; readonly of: ValuesOf<string> }
    /** Filtered by `attr.<name>=<value>` and counted as a facet: up to 50 values of 200 characters. */
    | { readonly kind: "keyword"; readonly of: ValuesOf<ReadonlyArray<string>> }
    /** Filtered by `attr.<name>=4..5`, sorted by `sort=<name>:desc`, and with `facet` counted and shown. */
    | { readonly kind: "number"; readonly facet?: boolean; readonly of: ValuesOf<number> }
  )

const limits = { text: 4000, values: 50, value: 200 }

export interface SearchAddition {
  readonly id: EntityId
  readonly attributes: Readonly<Record<string, ReadonlyArray<string>>>
  readonly words: string
  readonly numbers: Readonly<Record<string, number>>
}

interface Part {
  readonly attribute?: ReadonlyArray<string>
  readonly words?: string
  readonly number?: number
}

const partsOf = (field: SearchField, ids: ReadonlyArray<EntityId>) => {
  const each = <A>(found: Effect.Effect<ReadonlyMap<EntityId, A>, never, CurrentActor>, part: (value: A) => Part) =>
    Effect.map(found, (values) =>
      ids.map((id) => {
        const value = values.get(id)
        return value === undefined ? {} : part(value)
      }))
  switch (field.kind) {
    case "text":
      return each(field.of(ids), (text) => ({ words: text.slice(0, limits.text) }))
    case "keyword":
      return each(field.of(ids), (values) => ({
        attribute: [...new Set(values.map((value) => value.slice(0, limits.value)))].sort().slice(0, limits.values)
      }))
    case "number":
      return each(field.of(ids), (number) => {
        if (!Number.isFinite(number)) throw new TypeError(`The search field "${field.name}" has the value ${number}.`)
        return { number, ...(field.facet === true ? { attribute: [String(number)] } : {}) }
      })
  }
}

const emptySearchFields = () => {
  const fields = new Map<string, SearchField>()
  return {
    register: (field: SearchField) => Effect.sync(() => void fields.set(field.name, field)),
    has: (name: string) => fields.has(name),
    isNumber: (name: string) => fields.get(name)?.kind === "number",
    declared: (): ReadonlyArray<object> =>
      [...fields.values()].map(({ of: _, ...declared }) => declared)
        .sort((one, other) => one.name < other.name ? -1 : 1),
    additionsOf: Effect.fnUntraced(function*(ids: ReadonlyArray<EntityId>) {
      const all = yield* Effect.forEach(
        fields.values(),
        (field) => Effect.map(partsOf(field, ids), (parts) => [field.name, parts] as const)
      )
      return ids.map((id, n): SearchAddition => {
        const parts = all.map(([name, each]) => ({ name, ...each[n] }))
        return {
          id,
          words: parts.map(({ words = "" }) => words).join(" ").trim(),
          attributes: Object.fromEntries(
            parts.flatMap(({ attribute = [], name }) => attribute.length === 0 ? [] : [[name, attribute]])
          ),
          numbers: Object.fromEntries(parts.flatMap(({ name, number }) => number === undefined ? [] : [[name, number]]))
        }
      })
    })
  }
}

/** The search fields of the plugins of this process (docs/plugins.md). */
export class SearchFields extends Context.Service<SearchFields>()("stoa/domain/search/SearchFields", {
  make: Effect.sync(emptySearchFields)
}) {
  static readonly layer = Layer.effect(SearchFields, SearchFields.make)
}

export const searchFields: Effect.Effect<SearchFields["Service"]> = Effect.map(
  Effect.serviceOption(SearchFields),
  Option.getOrElse(emptySearchFields)
)
