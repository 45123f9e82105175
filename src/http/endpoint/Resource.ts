import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

/*
 * The usual endpoints of a kind of record: envelope, paging, status and idempotency are said here once, and a group says
 * name, path, shapes and what a reader of the document should know. Each `:name` of a path is the UUID of a record.
 */

type Path = `/api/${string}`

type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}` ? Name | Names<Rest>
  : P extends `${string}:${infer Name}` ? Name
  : never

type Params<P extends string> = { readonly [Name in Names<P>]: typeof Uuid }

/** The parameters of a path. */
export const paramsOf = <const P extends Path>(path: P): Params<P> =>
  // The entries lose the names.
  Object.fromEntries(Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => [name, Uuid])) as Params<P>

/** What the document says of an endpoint. */
export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

/** GET: a page of records (spec §8). */
export const lists = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { query: pageQuery, success: Page(record) }).annotateMerge(summary(...texts))

/** GET: a page of what belongs to another record. */
export const listsOf = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.get(name, path, { params: paramsOf(path), query: pageQuery, success: Page(record) })
    .annotateMerge(summary(...texts))

/** POST: a new record, 201; its change log entry, the row and the mark of the `Idempotency-Key` are one transaction. */
export const creates = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.post(name, path, { payload, success: Data(record).pipe(HttpApiSchema.status(201)) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** POST: the same for what belongs to another record. */
export const createsOf = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.post(name, path, {
    params: paramsOf(path),
    payload,
    success: Data(record).pipe(HttpApiSchema.status(201))
  }).annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** GET of one record. */
export const reads = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { params: paramsOf(path), success: Data(record) }).annotateMerge(summary(...texts))

/** PATCH: absent fields stay. */
export const changes = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.patch(name, path, { params: paramsOf(path), payload, success: Data(record) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** DELETE: 200 `{ data: { deleted: true } }`. */
export const removes = <const Name extends string, const P extends Path>(
  name: Name,
  path: P,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.delete(name, path, { params: paramsOf(path), success: Deleted })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))
