import { Schema, Struct } from "effect"
import { EntityId, VariantId } from "../ids/Id.ts"
import { maybe } from "../pricing/Bounds.ts"

/**
 * What a line says from its cart to its order: cart lines, priced lines, what hooks see, order lines, files and their
 * statements derive from it. A field is declared here, with a column in `cart_lines` and one in `order_lines`. Lines are
 * also stored in JSON (contract §12), so a new field has a default for those without it.
 */
export const Line = Schema.Struct({
  entityId: EntityId,
  entityType: Schema.String,
  variantId: Schema.NullOr(VariantId),
  sku: Schema.NullOr(Schema.String),
  title: Schema.String,
  quantity: Schema.Int
})

/** The part that a buyer chooses. The catalog adds the rest when the line is priced. */
export const ChosenLine = Line.mapFields(Struct.omit(["entityType", "sku", "title"]))
export type ChosenLine = typeof ChosenLine.Type

/** Quantity of a line in a request (contract §2). */
export const Quantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

/** A chosen line in a request. */
export const SentLine = Schema.Struct({ entityId: EntityId, variantId: maybe(VariantId), quantity: Quantity })
export type SentLine = typeof SentLine.Type

/** The line of a request, or of a plugin's hook that changed it. */
export const chosenLine = ({ entityId, quantity, variantId }: SentLine): ChosenLine => ({
  entityId,
  variantId: variantId ?? null,
  quantity
})

/** Lines of one sellable are one line, in a cart and in a staff request at the catalog's price. */
export const isSameSellable = (line: ChosenLine, other: ChosenLine): boolean =>
  line.entityId === other.entityId && line.variantId === other.variantId

/** What equal lines keep of the first one, unless the second one says it too; not the sellable and the quantity. */
export const lineDetails = Struct.keys(Struct.omit(ChosenLine.fields, ["entityId", "variantId", "quantity"]))

/** A line with the quantity and the details of an equal one. `CartStatements.ts` has the same rule in SQL. */
export const mergedLine = <L extends ChosenLine>(line: L, added: ChosenLine): L => ({
  ...line,
  ...Object.fromEntries(lineDetails.flatMap((field) => added[field] === null ? [] : [[field, added[field]]])),
  quantity: line.quantity + added.quantity
})
