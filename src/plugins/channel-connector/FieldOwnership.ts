import { hashOf, remoteOf } from "./CatalogMapping.ts"
import type { ChannelProduct, MappedField } from "./ChannelRecords.ts"
import { htmlOf, textOf } from "./EntityFields.ts"
import type { Agreed } from "./StoreTables.ts"

type Values = Readonly<Record<string, unknown>>

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A product without the fields that are ours, and whether the store has changed one of these since both sides agreed. */
interface HeldProduct {
  readonly product: ChannelProduct
  readonly isChanged: boolean
}

/** Takes out of a product what is written to the store: an import changes nothing of it. */
export const withoutOwned = (
  product: ChannelProduct,
  mapping: ReadonlyArray<MappedField>,
  agreed: Readonly<Record<string, Agreed>> | null
): HeldProduct => {
  let isChanged = false
  // Which fields have a value here is known from the first push on.
  const isOwned = (path: string) => remoteOf(mapping, path) !== undefined && (agreed === null || path in agreed)
  const without = (prefix: string, values: Values): Values => {
    const isDescribed = isOwned(`${prefix}.description`) || isOwned(`${prefix}.richDescription`)
    return Object.fromEntries(
      Object.entries(values).filter(([field, value]) => {
        const path = `${prefix}.${field}`
        const known = agreed?.[path]
        const hash = hashOf(field === "richDescription" ? htmlOf(value) : textOf(value))
        if (known !== undefined && ![known.here, known.there, known.sent].includes(hash)) isChanged = true
        // Both are the one description of the store.
        return !isOwned(path) && !(isDescribed && (field === "description" || field === "richDescription"))
      })
    )
  }
  const { attributes, customFields, ...rest } = product.draft.product
  const kept = {
    ...rest,
    ...(Array.isArray(attributes) && {
      attributes: attributes.filter(isValues).map((texts) =>
        without(`attributes.${typeof texts["locale"] === "string" ? texts["locale"] : "en"}`, texts)
      )
    }),
    ...(isValues(customFields) && { customFields: without("customFields", customFields) })
  }
  return { product: { ...product, draft: { ...product.draft, product: kept } }, isChanged }
}
