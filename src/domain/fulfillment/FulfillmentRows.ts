import { Option, Schema } from "effect"
import { DigitalGrant, type Fulfillment, type FulfillmentLine } from "./Fulfillment.ts"

/** A row of `fulfillments` with the customer of its order and its lines, as `fulfillmentColumns` reads it. */
export interface FulfillmentRow {
  readonly id: string
  readonly order_id: string
  readonly type: Fulfillment["type"]
  readonly status: Fulfillment["status"]
  readonly carrier: string | null
  readonly tracking_number: string | null
  readonly tracking_url: string | null
  readonly estimated_delivery: Date | null
  readonly shipped_at: Date | null
  readonly delivered_at: Date | null
  readonly metadata: unknown
  readonly details: Readonly<Record<string, unknown>> | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly customer_id: string | null
  readonly lines: ReadonlyArray<FulfillmentLine & { readonly entity_id: string; readonly entity_type: string }>
}

/** The columns of a record, from `fulfillments f` joined with its order `o`: an SQL text. */
export const fulfillmentColumns = `f.*, o.customer_id,
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'title', l.title, 'sku', l.sku,
      'quantity', fl.quantity, 'entity_id', l.entity_id, 'entity_type', l.entity_type) order by l.position)
    from fulfillment_lines fl join order_lines l on l.id = fl.order_line_id
    where fl.fulfillment_id = f.id and fl.organization_id = f.organization_id), '[]') as lines`

const grantFields = new Set(Object.keys(DigitalGrant.fields))

/** The part of a record that is stored in the row's metadata. */
export const grantOf = (fulfillment: Fulfillment) =>
  Object.fromEntries(Object.entries(fulfillment).filter(([name]) => grantFields.has(name)))

const readGrant = Schema.decodeUnknownOption(DigitalGrant)

/** An object with the key, or without it for a missing value: absent rather than null (contract §5). */
export const given = <const Key extends string, A>(
  key: Key,
  value: A | null | undefined
): { readonly [K in Key]?: A } =>
  // A computed key widens to string; the object has exactly this key or none.
  (value === null || value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: A }

export const toFulfillment = (row: FulfillmentRow): Fulfillment => {
  const only = row.lines.length === 1 ? row.lines[0] : undefined
  return {
    id: row.id,
    orderId: row.order_id,
    type: row.type,
    status: row.status,
    lineItems: row.lines.map(({ id, quantity, sku, title }) => ({ id, title, sku, quantity })),
    ...given("carrier", row.carrier),
    ...given("trackingNumber", row.tracking_number),
    ...given("trackingUrl", row.tracking_url),
    ...given("estimatedDelivery", row.estimated_delivery),
    ...given("shippedAt", row.shipped_at),
    ...given("deliveredAt", row.delivered_at),
    ...given("customerId", row.customer_id),
    ...given("entityType", only?.entity_type),
    ...given("entityId", only?.entity_id),
    ...Option.getOrElse(readGrant(row.metadata), () => ({})),
    ...given("metadata", row.details),
    createdAt: row.created_at,
    updatedAt: row.updated_at
  }
}
