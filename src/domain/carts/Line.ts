import { Effect, Equal, Schema, Struct } from "effect"
import { EntityId, VariantId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, objectUpTo } from "../platform/text/Storable.ts"

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
  quantity: Schema.Int,
  notes: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Schema.Record(Schema.String, Schema.Unknown).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})

/** The part that a buyer chooses. The catalog adds the rest when the line is priced. */
export const ChosenLine = Line.mapFields(Struct.omit(["entityType", "sku", "title"]))
export type ChosenLine = typeof ChosenLine.Type

/** Quantity of a line in a request (contract §2). */
export const Quantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

/** A remark about a line in a request (contract, plugins §17.1). */
export const LineNotes = FreeText.check(Schema.isMaxLength(500)).annotate({
  description:
    "A remark about the line, such as \"no onions\". The same line added again keeps it, unless it has another.",
  examples: ["No onions"]
})

/** The key of an order line's metadata that holds the discount by staff. */
const reserved = "manualDiscount"

const BoundedMetadata = objectUpTo(4_096)

/** Whether metadata is small enough for a line; hooks, plugins and lines of imported orders bring more than requests. */
export const isBoundedMetadata = Schema.is(BoundedMetadata)

/** What distinguishes a line from others of the same product, in a request (contract, plugins §17.1). */
const LineMetadata = BoundedMetadata.check(
  Schema.makeFilter((metadata: object) => !Object.hasOwn(metadata, reserved) || `must not have the key ${reserved}`)
).annotate({
  description:
    "What distinguishes the line, at most 4 kB of JSON: lines of one product are one line only if they have " +
    "the same metadata, in any order of keys. It never changes.",
  examples: [{ modifiers: [{ name: "Bacon" }] }]
})

/** A chosen line in a request. */
export const SentLine = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  quantity: Quantity,
  notes: maybe(LineNotes),
  metadata: maybe(LineMetadata)
})
export type SentLine = typeof SentLine.Type

/** The line of a request, or of a plugin's hook that changed it. */
export const chosenLine = ({ entityId, metadata, notes, quantity, variantId }: SentLine): ChosenLine => ({
  entityId,
  variantId: variantId ?? null,
  quantity,
  notes: notes ?? null,
  metadata: metadata ?? {}
})

/** The metadata of an order line as its buyer chose it. */
export const chosenMetadata = ({ metadata }: Pick<ChosenLine, "metadata">): ChosenLine["metadata"] =>
  Struct.omit(metadata, [reserved])

/** Equal lines are one line, in a cart and in a staff request at the catalog's price (contract, plugins §17.1). */
export const isSameLine = (line: ChosenLine, other: ChosenLine): boolean =>
  line.entityId === other.entityId && line.variantId === other.variantId && Equal.equals(line.metadata, other.metadata)

/** What equal lines keep of the first one, unless the second one says it too; not what makes them equal, and not the quantity. */
export const lineDetails = Struct.keys(
  Struct.omit(ChosenLine.fields, ["entityId", "variantId", "quantity", "metadata"])
)

/** A line with the quantity and the details of an equal one. `CartStatements.ts` has the same rule in SQL. */
export const mergedLine = <L extends ChosenLine>(line: L, added: ChosenLine): L => ({
  ...line,
  ...Object.fromEntries(lineDetails.flatMap((field) => added[field] === null ? [] : [[field, added[field]]])),
  quantity: line.quantity + added.quantity
})
