import { isoTime } from "../events/JournalRepo.ts"

/** A line as the API shows it: an SQL text over a row of `cart_lines`. */
export const lineJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'cartId', ${row}.cart_id, 'entityId', ${row}.entity_id,
    'variantId', ${row}.variant_id, 'quantity', ${row}.quantity, 'unitPriceSnapshot', ${row}.unit_price_snapshot,
    'currency', ${row}.currency, 'notes', ${row}.notes, 'metadata', ${row}.metadata,
    'addedAt', ${isoTime(`${row}.added_at`)})`
