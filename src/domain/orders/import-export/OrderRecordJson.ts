import { isoTime } from "../../events/ChangeLogRepo.ts"

/**
 * The product of a line `l`: the slug of its entity, and the options of a variant without SKU; null if it was deleted.
 */
const product = `'slug', (select e.slug from catalog_entities e
      where e.id = l.entity_id and e.organization_id = l.organization_id),
    'options', (select jsonb_object_agg(t.name, w.value) from variants v
      join variant_option_values x on x.variant_id = v.id and x.organization_id = v.organization_id
      join option_values w on w.id = x.option_value_id join option_types t on t.id = w.option_type_id
      where v.id = l.variant_id and v.organization_id = l.organization_id and v.sku is null)`

const linesOf = (o: string) =>
  `(select coalesce(json_agg(json_build_object('sku', l.sku, ${product}, 'title', l.title, 'entityType', l.entity_type,
    'quantity', l.quantity, 'unitPrice', l.unit_price, 'totalPrice', l.total_price, 'discountAmount', l.discount_amount,
    'taxAmount', l.tax_amount, 'refundedQuantity', l.refunded_quantity, 'fulfillmentStatus', l.fulfillment_status)
    order by l.position), '[]')
  from order_lines l where l.order_id = ${o}.id and l.organization_id = ${o}.organization_id)`

/** An order in the form of files, without ids: an SQL expression over a row of `orders`. */
export const orderRecordJson = (o: string): string =>
  `json_build_object('orderNumber', ${o}.order_number, 'status', ${o}.status,
  'placedAt', ${isoTime(`${o}.placed_at`)}, 'email', coalesce(${o}.email, (select c.email from customers c
    where c.id = ${o}.customer_id and c.organization_id = ${o}.organization_id)),
  'currency', ${o}.currency, 'subtotal', ${o}.subtotal, 'discountTotal', ${o}.discount_total, 'shippingTotal', ${o}.shipping_total,
  'taxTotal', ${o}.tax_total, 'taxIncluded', ${o}.tax_included, 'grandTotal', ${o}.grand_total,
  'amountCaptured', ${o}.amount_captured, 'refundedTotal', ${o}.refunded_total, 'fulfilledAt', ${
    isoTime(`${o}.fulfilled_at`)
  },
  'cancelledAt', ${isoTime(`${o}.cancelled_at`)}, 'shippingAddress', ${o}.shipping_address, 'metadata', ${o}.metadata,
  'lineItems', ${linesOf(o)})`
