import { GraphQLError, type GraphQLResolveInfo } from "graphql"
import type { ShopifyCatalog } from "./ShopifyCatalog.ts"
import { gid, isoTime, type ShopifyContext, type ShopifySite } from "./ShopifyPages.ts"

export interface UserError {
  readonly code: string | null
  readonly field: ReadonlyArray<string> | null
  readonly message: string
}

export const userError = (code: string | null, message: string, ...field: ReadonlyArray<string>): UserError => ({
  code,
  message,
  field: field.length === 0 ? null : field
})

/** Answers of mutations with `@idempotent`, by key. From 2026-04 such a mutation needs one. */
export class Idempotency {
  private readonly answers = new Map<string, { readonly request: string; readonly answer: object }>()

  once(
    info: GraphQLResolveInfo,
    { version }: ShopifyContext,
    args: object,
    refuse: (error: UserError) => object,
    work: () => object
  ): object {
    const directive = info.fieldNodes[0]?.directives?.find(({ name }) => name.value === "idempotent")
    const value = directive?.arguments?.find(({ name }) => name.value === "key")?.value
    const key = value?.kind === "StringValue"
      ? value.value
      : value?.kind === "Variable"
      ? String(info.variableValues.coerced[value.name.value])
      : undefined
    if (key === undefined) {
      if (version < "2026-04") return work()
      const message = `The @idempotent directive is required for the ${info.fieldName} mutation.`
      throw new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } })
    }
    const request = info.fieldName + JSON.stringify(args)
    const known = this.answers.get(key)
    if (known === undefined) {
      const answer = work()
      this.answers.set(key, { request, answer })
      return answer
    }
    if (known.request === request) return known.answer
    const message = "The same idempotency key cannot be used with different operation parameters."
    return refuse(userError("IDEMPOTENCY_KEY_PARAMETER_MISMATCH", message))
  }
}

interface SetQuantity {
  readonly inventoryItemId: string
  readonly locationId: string
  readonly quantity: number
  readonly changeFromQuantity?: number | null
  readonly compareQuantity?: number | null
}

interface SetQuantities {
  readonly name: string
  readonly reason: string
  readonly quantities: ReadonlyArray<SetQuantity>
  readonly ignoreCompareQuantity?: boolean
}

/** `inventorySetQuantities`: sets all quantities or, if one is not as expected, none. */
export const setQuantities = (
  site: ShopifySite,
  catalog: ShopifyCatalog,
  { version }: ShopifyContext,
  input: SetQuantities
) => {
  const { ignoreCompareQuantity = false, name, quantities, reason } = input
  if (version >= "2026-04" && quantities.some(({ changeFromQuantity }) => changeFromQuantity === undefined)) {
    const message = "changeFromQuantity is required. Pass null to set the quantity without a comparison."
    throw new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } })
  }
  const changes = quantities.map((wanted, index): { readonly error?: UserError; readonly apply?: () => void } => {
    const variant = catalog.variantOf(wanted.inventoryItemId)
    const level = variant?.levels.find(({ location }) => gid("Location", location.id) === wanted.locationId)
    const onHand = name === "on_hand"
    const current = (level?.available ?? 0) + (onHand ? level?.committed ?? 0 : 0)
    const refuse = (code: string, message: string, field: string) => ({
      error: userError(code, message, "input", "quantities", String(index), field)
    })
    if (name !== "available" && !onHand) {
      return { error: userError("INVALID_NAME", "The name must be available or on_hand.", "input", "name") }
    }
    if (variant === undefined) {
      return refuse("INVALID_INVENTORY_ITEM", "The inventory item could not be found.", "inventoryItemId")
    }
    if (level === undefined) return refuse("INVALID_LOCATION", "The location could not be found.", "locationId")
    if (onHand && wanted.quantity < 0) {
      return refuse("INVALID_QUANTITY_NEGATIVE", "The quantity can't be negative.", "quantity")
    }
    const { changeFromQuantity: from, compareQuantity: compared } = wanted
    if (from === undefined && !ignoreCompareQuantity) {
      if (typeof compared !== "number") {
        return refuse("COMPARE_QUANTITY_REQUIRED", "compareQuantity is required.", "compareQuantity")
      }
      if (compared !== current) return refuse("COMPARE_QUANTITY_STALE", "compareQuantity is stale.", "compareQuantity")
    }
    if (typeof from === "number" && from !== current) {
      return refuse(
        "CHANGE_FROM_QUANTITY_STALE",
        "The changeFromQuantity value does not match persisted value.",
        "changeFromQuantity"
      )
    }
    return { apply: () => catalog.setLevel(variant, level, { available: level.available + wanted.quantity - current }) }
  })
  const userErrors = changes.flatMap((one) => one.error === undefined ? [] : [one.error])
  if (userErrors.length > 0) return { inventoryAdjustmentGroup: null, userErrors }
  for (const { apply } of changes) apply?.()
  const group = { id: gid("InventoryAdjustmentGroup", site.nextId()), reason, createdAt: isoTime(site.now()) }
  return { inventoryAdjustmentGroup: group, userErrors }
}
