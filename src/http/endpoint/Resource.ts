import { Context, type Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import {
  AddressId,
  CustomerGroupId,
  CustomerId,
  FulfillmentId,
  InteractionId,
  OrderId,
  OrderLineId,
  OrderMessageId,
  OrderNoteId,
  ReturnId,
  ShippingRateId,
  ShippingZoneId,
  TaxClassId,
  TaxRateId,
  WebhookEndpointId
} from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

/*
 * Builders of the usual endpoints, with envelope, paging, status and idempotency. A `:name` is the id of a record of
 * the collection before it.
 */

type Path = `/api/${string}`

const ids = {
  "customers": CustomerId,
  "customers/groups": CustomerGroupId,
  "addresses": AddressId,
  "interactions": InteractionId,
  "members": CustomerId,
  "orders": OrderId,
  "line-items": OrderLineId,
  "notes": OrderNoteId,
  "fulfillments": FulfillmentId,
  "messages": OrderMessageId,
  "returns": ReturnId,
  "shipping/rates": ShippingRateId,
  "shipping/zones": ShippingZoneId,
  "tax/classes": TaxClassId,
  "tax/rates": TaxRateId,
  "webhooks": WebhookEndpointId
}

type Ids = typeof ids

type IdAfter<Before extends string> = {
  [End in keyof Ids]: Before extends `${string}/${End}` ? Ids[End] : never
}[keyof Ids]

type Params<P extends string> = P extends `${infer Before}/:${infer Name}/${infer Rest}`
  ? { readonly [_ in Name]: IdAfter<Before> } & Params<`/${Rest}`>
  : P extends `${infer Before}/:${infer Name}` ? { readonly [_ in Name]: IdAfter<Before> }
  : {}

export const paramsOf = <const P extends Path>(path: P): Params<P> =>
  Object.fromEntries(
    Array.from(path.matchAll(/([^:]*)\/:(\w+)/g), ([, before = "", name = ""]) => [
      name,
      Object.entries(ids).find(([end]) => before.endsWith(`/${end}`))?.[1]
    ])
  ) as Params<P>

export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

export const Created = <T, E>(record: Schema.Codec<T, E>) => Data(record).pipe(HttpApiSchema.status(201))

export const lists = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.get(name, path, { params: paramsOf(path), query: pageQuery, success: Page(record) })
    .annotateMerge(summary(...texts))

/** 201; row, change log entry and idempotency record are one transaction. */
export const creates = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.post(name, path, { params: paramsOf(path), payload, success: Created(record) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

export const reads = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { params: paramsOf(path), success: Data(record) }).annotateMerge(summary(...texts))

export const changes = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.patch(name, path, { params: paramsOf(path), payload, success: Data(record) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

export const removes = <const Name extends string, const P extends Path>(
  name: Name,
  path: P,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.delete(name, path, { params: paramsOf(path), success: Deleted })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** Any of the permissions suffices: `endpoint.annotateMerge(…)`. */
export const described = (summary: string, ...permissions: Parameters<typeof anyOf>) =>
  Context.add(OpenApi.annotations({ summary }), Access, anyOf(...permissions))

/** A group with access rules, idempotency keys and all issues of a refused request. */
export const guarded = <
  const Id extends string,
  const Endpoints extends readonly [HttpApiEndpoint.Constraint, ...ReadonlyArray<HttpApiEndpoint.Constraint>]
>(id: Id, ...endpoints: Endpoints) =>
  HttpApiGroup.make(id).add(...endpoints)
    .annotateMerge(parseOptions).middleware(Errors).middleware(Idempotency).middleware(AccessControl)
