import type { CatalogEntity } from "../../domain/catalog/Entity.ts"
import { combinationKey, fullProduct } from "../../domain/catalog/variants/Variant.ts"
import { newId } from "../../domain/ids/Id.ts"
import type { DemoProduct } from "./demo/Assortment.ts"

/** What the rows of one product are made from: its id, whose it is, and when it was made. */
export interface PlacedProduct {
  readonly id: string
  readonly organization: string
  readonly at: Date
  readonly product: DemoProduct
}

export const entityOf = ({ at, id, organization, product }: PlacedProduct): CatalogEntity => ({
  id,
  organizationId: organization,
  sourceStoreId: null,
  type: "product",
  slug: product.slug,
  status: "active",
  isVisible: true,
  taxClass: null,
  metadata: { sku: product.sku, weightGrams: product.weightGrams },
  createdAt: at,
  updatedAt: at,
  publishedAt: at
})

export const entityRow = (placed: PlacedProduct) => {
  const entity = entityOf(placed)
  return {
    id: entity.id,
    organization_id: entity.organizationId,
    type: entity.type,
    slug: entity.slug,
    status: entity.status,
    is_visible: entity.isVisible,
    metadata: entity.metadata,
    created_at: entity.createdAt,
    updated_at: entity.updatedAt,
    published_at: entity.publishedAt
  }
}

export const wordRows = ({ id, organization, product }: PlacedProduct) =>
  (["en", "de"] as const).map((locale) => ({
    id: newId(),
    organization_id: organization,
    entity_id: id,
    locale,
    ...product[locale]
  }))

interface PlacedValue {
  readonly id: string
  readonly value: string
}

interface PlacedAxis {
  readonly id: string
  readonly name: string
  readonly values: ReadonlyArray<PlacedValue>
}

const optionTypeRows = ({ id, organization }: PlacedProduct, axes: ReadonlyArray<PlacedAxis>) =>
  axes.map((axis, index) => ({
    id: axis.id,
    organization_id: organization,
    entity_id: id,
    name: axis.name,
    display_name: axis.name,
    sort_order: index
  }))

const optionValueRows = ({ organization }: PlacedProduct, axes: ReadonlyArray<PlacedAxis>) =>
  axes.flatMap((axis) =>
    axis.values.map(({ id, value }, index) => ({
      id,
      organization_id: organization,
      option_type_id: axis.id,
      value,
      display_value: value,
      sort_order: index
    }))
  )

/** Every combination once; its SKU says which, as in CLO-1001-M-INK. */
const variantRowsOf = ({ id, organization, product }: PlacedProduct, axes: ReadonlyArray<PlacedAxis>) => {
  const texts = new Map(axes.flatMap(({ values }) => values.map((one) => [one.id, one.value] as const)))
  return (axes.length === 0 ? [] : [...fullProduct(axes)]).map((combination, index) => ({
    id: newId(),
    organization_id: organization,
    entity_id: id,
    sku: [product.sku, ...combination.map((value) => texts.get(value)?.toUpperCase())].join("-"),
    sort_order: index,
    metadata: { generatedBy: "all" },
    combination: combinationKey(combination)
  }))
}

/** Options, their values and every combination of them, as `variants/generate` makes them in mode `all`. */
export const variantRows = (placed: PlacedProduct) => {
  const axes = (placed.product.options ?? []).map(({ name, values }) => ({
    id: newId(),
    name,
    values: values.map((value) => ({ id: newId(), value }))
  }))
  const variants = variantRowsOf(placed, axes)
  return {
    option_types: optionTypeRows(placed, axes),
    option_values: optionValueRows(placed, axes),
    variants,
    variant_option_values: variants.flatMap((variant) =>
      variant.combination.split(",").map((value) => ({
        organization_id: variant.organization_id,
        variant_id: variant.id,
        option_value_id: value
      }))
    )
  }
}
