import { isoTime } from "../../events/ChangeLogRepo.ts"
import { orderedJsonOf } from "../../records/Columns.ts"
import { LineRecord, OrderRecord } from "./OrderRecord.ts"

const { customerId: _, id: __, ...orderFields } = OrderRecord.fields
const { entityId: ___, variantId: ____, ...lineFields } = LineRecord.fields

/** The lines of the order `o`. Their product is null if it was deleted, and options are those of a variant without SKU. */
const linesOf = (o: string) =>
  `(select coalesce(json_agg(${
    orderedJsonOf(lineFields, "l", {
      slug: `(select e.slug from catalog_entities_read e
        where e.id = l.entity_id and e.organization_id = l.organization_id)`,
      options: `(select jsonb_object_agg(t.name, w.value) from variants_read v
        join variant_option_values_read x on x.variant_id = v.id and x.organization_id = v.organization_id
        join option_values_read w on w.id = x.option_value_id join option_types_read t on t.id = w.option_type_id
        where v.id = l.variant_id and v.organization_id = l.organization_id and v.sku is null)`
    })
  } order by l.position), '[]')
  from order_lines l where l.order_id = ${o}.id and l.organization_id = ${o}.organization_id)`

/** An order in the form of files, without ids: an SQL expression over a row of `orders`. */
export const orderRecordJson = (o: string): string =>
  orderedJsonOf(orderFields, o, {
    placedAt: isoTime(`${o}.placed_at`),
    email: `coalesce(${o}.email, (select c.email from customers_read c
      where c.id = ${o}.customer_id and c.organization_id = ${o}.organization_id))`,
    fulfilledAt: isoTime(`${o}.fulfilled_at`),
    cancelledAt: isoTime(`${o}.cancelled_at`),
    lineItems: linesOf(o)
  })
