import { Effect, Option, Schema } from "effect"
import { type CurrentActor, EntityId, type Usable, Uuid, VariantId } from "stoa/plugin"
import { itemsNamed, optionsNamed } from "./PartsRepo.ts"

/** A line of a cart, sale or order, as far as a kitchen is concerned. */
export interface DishLine {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What a kitchen cooks for a line. */
export interface Part {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly quantity: number
  /** Of a combo's item; null: the title of the line. */
  readonly itemName: string | null
  readonly modifiers: ReadonlyArray<{ readonly name: string; readonly priceAdjustment: number }>
}

const Modifiers = Schema.Struct({
  modifiers: Schema.Array(Schema.Struct({ groupId: Uuid, optionIds: Schema.Array(Uuid) }))
})
const Chosen = Schema.Struct({ combo: Schema.Array(Schema.Struct({ groupId: Uuid, itemId: Uuid })) })
const readModifiers = Schema.decodeUnknownOption(Modifiers)
const readCombo = Schema.decodeUnknownOption(Chosen)

type Metadata = DishLine["metadata"]

/** Reads what a line names under `modifiers`: none without it, undefined when it has another form. */
export const modifiersIn = (metadata: Metadata) =>
  metadata["modifiers"] === undefined
    ? []
    : Option.getOrUndefined(Option.map(readModifiers(metadata), ({ modifiers }) => modifiers))

/** Reads what a line names under `combo`: none without it, undefined when it has another form. */
export const comboIn = (metadata: Metadata) =>
  metadata["combo"] === undefined ? [] : Option.getOrUndefined(Option.map(readCombo(metadata), ({ combo }) => combo))

/**
 * Says what stations cook for each of these lines: the line itself with its modifiers, or the items of its combo. At most
 * two statements, none for lines without both: `db.use(partsOf)(lines)`.
 */
export const partsOf: Usable<
  (lines: ReadonlyArray<DishLine>) => Effect.Effect<ReadonlyArray<ReadonlyArray<Part>>, never, CurrentActor>
> = {
  on: (db) =>
    Effect.fn("Parts.of")(function*(lines) {
      const named = lines.map(({ metadata }) => ({
        optionIds: (modifiersIn(metadata) ?? []).flatMap(({ optionIds }) => optionIds),
        itemIds: (comboIn(metadata) ?? []).map(({ itemId }) => itemId)
      }))
      const options = yield* optionsNamed.on(db)(named.flatMap(({ optionIds }) => optionIds))
      const items = yield* itemsNamed.on(db)(named.flatMap(({ itemIds }) => itemIds))
      const optionOf = new Map(options.map(({ id, ...option }) => [id, option]))
      const itemOf = new Map(items.map((item) => [item.id, item]))
      return lines.map((line, index): ReadonlyArray<Part> => {
        const { itemIds = [], optionIds = [] } = named[index] ?? {}
        const modifiers = optionIds.flatMap((id) => optionOf.get(id) ?? [])
        const parts = itemIds.flatMap((id) => itemOf.get(id) ?? [])
        const itself = {
          entityId: EntityId.make(line.entityId),
          variantId: line.variantId === null ? null : VariantId.make(line.variantId),
          quantity: line.quantity,
          itemName: null,
          modifiers
        }
        return parts.length === 0
          ? [itself]
          : parts.map(({ entityId, name }) => ({ ...itself, entityId, variantId: null, itemName: name }))
      })
    })
}
