import { Result, Schema, SchemaIssue } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const pathOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined): string =>
  (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")

/** What a schema has against a value, field by field, as the API tells it (contract §0.1). */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(error.issue).issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message, code: "invalid" }))

/** Reads values of a schema, and names every field that is wrong or that the schema does not know. */
export const strictly = <T, E>(schema: Schema.Codec<T, E>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (value: unknown): Result.Result<T, ReadonlyArray<Issue>> => Result.mapError(decode(value), issuesOf)
}
