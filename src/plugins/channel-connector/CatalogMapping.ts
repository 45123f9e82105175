import { Effect } from "effect"
import { createHash } from "node:crypto"
import { ValidationFailed } from "stoa/plugin"
import type { ChannelAdapter } from "./ChannelAdapter.ts"
import { Channels } from "./ChannelOptions.ts"
import type { MappedField, RemoteField } from "./ChannelRecords.ts"
import type { Store } from "./StoreTables.ts"

/** Neither SKUs and barcodes, nor options, prices and statuses. */
const writable =
  /^(attributes\.[^.]+\.(title|subtitle|description|richDescription|seoTitle|seoDescription|\*)|customFields\.[^.]+)$/

const stars = (pattern: string): number => pattern.split("*").length - 1

/** The parts of a path that stand for the `*` of a pattern; undefined: it does not match. */
const matched = (pattern: string, path: string): ReadonlyArray<string> | undefined => {
  const [wanted, given] = [pattern.split("."), path.split(".")]
  if (wanted.length !== given.length || !wanted.every((part, at) => part === "*" || part === given[at])) {
    return undefined
  }
  return given.filter((_, at) => wanted[at] === "*")
}

const form = "fieldPath must be attributes.<locale>.<field> or customFields.<name>; * stands for any part."

/** The field and the sentence of what is wrong with a row; undefined: nothing. */
const issueOf = ({ fieldPath, ...remote }: MappedField, { id, pushes }: ChannelAdapter) => {
  if (!writable.test(fieldPath)) return { field: "fieldPath", message: form }
  if (pushes?.accepts(remote) === true) return undefined
  return {
    field: "remoteKey",
    message: `${id} has no ${remote.target} field "${remote.remoteKey}" that can be written.`
  }
}

/** 422 of rows that the adapter of the store cannot write; rows of other providers are kept as they are. */
export const refusedMapping = (rows: ReadonlyArray<MappedField>, adapter: ChannelAdapter) => {
  const issues = rows.flatMap((row, at) => {
    const issue = row.provider === undefined || row.provider === adapter.id ? issueOf(row, adapter) : undefined
    return issue === undefined
      ? []
      : [{ path: `overrides.${at}.${issue.field}`, message: issue.message, code: "invalid" }]
  })
  return issues.length === 0 ? undefined : ValidationFailed.issues(issues)
}

/** The mapping of a store, the most specific rows first: its overrides, and the rows of the adapter for other paths. */
export const mergedMapping = (
  { catalogFieldMapping, provider }: Pick<Store, "catalogFieldMapping" | "provider">,
  { pushes }: ChannelAdapter
): ReadonlyArray<MappedField> => {
  const own = catalogFieldMapping.filter((row) => row.provider === undefined || row.provider === provider)
  const others = pushes?.defaults.filter(({ fieldPath }) => !own.some((row) => row.fieldPath === fieldPath)) ?? []
  return [...own, ...others].toSorted((one, other) => stars(one.fieldPath) - stars(other.fieldPath))
}

/** The mapping of a store whose adapter is installed. */
export const mappingOf = Effect.fnUntraced(function*(store: Store) {
  const { adapterOf } = yield* Channels
  return mergedMapping(store, yield* Effect.catch(adapterOf(store.provider), Effect.die))
})

/** Warns of overrides that lead several fields to one place: only one can be written. */
export const mappingWarnings = (
  overrides: ReadonlyArray<MappedField>,
  merged: ReadonlyArray<MappedField>
): ReadonlyArray<string> =>
  overrides.flatMap(({ fieldPath, remoteKey, target }) => {
    const rivals = merged.filter((row) =>
      row.target === target && row.remoteKey === remoteKey && row.fieldPath !== fieldPath
    )
    const paths = [fieldPath, ...rivals.map((row) => row.fieldPath)]
    if (paths.length === 1 && stars(fieldPath) <= stars(remoteKey)) return []
    return [`"${remoteKey}" gets the first value of ${paths.map((path) => `"${path}"`).join(", ")}.`]
  })

/** A field of an entity, with where it goes. */
export interface OutboundField extends RemoteField {
  readonly fieldPath: string
  /** Null: it has none. */
  readonly value: string | null
}

/** Finds the place of a path at the store; each `*` of the remote key is the part that its pattern found. */
export const remoteOf = (mapping: ReadonlyArray<MappedField>, path: string): RemoteField | undefined => {
  for (const { fieldPath, remoteKey, target } of mapping) {
    const parts = matched(fieldPath, path)
    if (parts === undefined) continue
    const rest = [...parts]
    return { target, remoteKey: remoteKey.replaceAll("*", (star) => rest.shift() ?? star) }
  }
  return undefined
}

/** The fields to write of an entity: of several for one place the first with a value, English before other languages. */
export const outboundFields = (
  mapping: ReadonlyArray<MappedField>,
  values: ReadonlyMap<string, string | null>
): ReadonlyArray<OutboundField> => {
  const rank = (path: string) => mapping.findIndex(({ fieldPath }) => matched(fieldPath, path) !== undefined)
  const isEnglish = (path: string) => path.startsWith("attributes.en.") ? 0 : 1
  const paths = [...values.keys()].filter((path) => rank(path) >= 0).toSorted((one, other) =>
    rank(one) - rank(other) || isEnglish(one) - isEnglish(other) || one.localeCompare(other)
  )
  const found = new Map<string, OutboundField>()
  for (const fieldPath of paths) {
    const remote = remoteOf(mapping, fieldPath)
    if (remote === undefined) continue
    const place = `${remote.target} ${remote.remoteKey}`
    const value = values.get(fieldPath) ?? null
    const before = found.get(place)
    if (before === undefined || before.value === null && value !== null) {
      found.set(place, { fieldPath, ...remote, value })
    }
  }
  return [...found.values()]
}

export const hashOf = (value: string | null): string =>
  value === null ? "" : createHash("sha256").update(value).digest("base64url").slice(0, 22)
