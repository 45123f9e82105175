import { Option, Schema, Struct } from "effect"
import { columnsOf } from "../records/Columns.ts"
import { DigitalGrant, Fulfillment, type FulfillmentLine } from "./Fulfillment.ts"

type Required = "id" | "orderId" | "type" | "status" | "createdAt" | "updatedAt"
type Nullable =
  | "carrier"
  | "trackingNumber"
  | "trackingUrl"
  | "estimatedDelivery"
  | "shippedAt"
  | "deliveredAt"
  | "customerId"
  | "metadata"

/** A row of `fulfillments` with the customer of its order and its lines, as `fulfillmentColumns` reads it. */
export type FulfillmentRow =
  & Pick<Fulfillment, Required>
  & { readonly [Field in Nullable]: Exclude<Fulfillment[Field], undefined> | null }
  & {
    readonly grant: unknown
    readonly lines: ReadonlyArray<FulfillmentLine & { readonly entityId: string; readonly entityType: string }>
  }

const { entityId: _id, entityType: _type, lineItems: _lines, ...stored } = Struct.omit(
  Fulfillment.fields,
  Struct.keys(DigitalGrant.fields)
)

/** The columns of a record, from `fulfillments f` joined with its order `o`: an SQL text. */
export const fulfillmentColumns = `${
  columnsOf(stored, "f", { customerId: "o.customer_id", metadata: "f.details" })
}, f.metadata as "grant",
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'title', l.title, 'sku', l.sku,
      'quantity', fl.quantity, 'entityId', l.entity_id, 'entityType', l.entity_type) order by l.position)
    from fulfillment_lines fl join order_lines_read l on l.id = fl.order_line_id
    where fl.fulfillment_id = f.id and fl.organization_id = f.organization_id), '[]') as lines`

const grantFields = new Set(Object.keys(DigitalGrant.fields))

/** The part of a record that is stored in the row's metadata. */
export const grantOf = (fulfillment: Fulfillment) =>
  Object.fromEntries(Object.entries(fulfillment).filter(([name]) => grantFields.has(name)))

const readGrant = Schema.decodeUnknownOption(DigitalGrant)

/** The fields that have a value: absent rather than null (contract §5). */
export const present = <A extends object>(
  fields: A
): { readonly [Field in keyof A]?: Exclude<A[Field], null | undefined> } =>
  // The entries lose the types of the fields.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    readonly [Field in keyof A]?: Exclude<A[Field], null | undefined>
  }

export const toFulfillment = (row: FulfillmentRow): Fulfillment => {
  const { createdAt, grant, id, lines, orderId, status, type, updatedAt, ...optional } = row
  const only = lines.length === 1 ? lines[0] : undefined
  return {
    id,
    orderId,
    type,
    status,
    lineItems: lines.map(({ id, quantity, sku, title }) => ({ id, title, sku, quantity })),
    ...present({ ...optional, entityType: only?.entityType, entityId: only?.entityId }),
    ...Option.getOrElse(readGrant(grant), () => ({})),
    createdAt,
    updatedAt
  }
}
