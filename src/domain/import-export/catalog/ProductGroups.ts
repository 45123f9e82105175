import { brands } from "../../catalog/brands/BrandRepo.ts"
import { categories } from "../../catalog/categories/CategoryRepo.ts"
import type { RowBatch } from "../../platform/batching/RowBatch.ts"
import type { EntityId } from "../../platform/ids/Id.ts"
import { CategoryId } from "../../platform/ids/Id.ts"
import type { Table } from "../../platform/records/Table.ts"
import type { BatchContext } from "../Upsert.ts"
import { type ProductState, productTables as tables, type StoredProduct } from "./CatalogImportRepo.ts"
import { blankBrand, blankCategory } from "./GroupImport.ts"
import type { NamedGroups, NamedProduct } from "./ProductRecord.ts"

type GroupName = keyof NamedGroups

const groups = {
  categories: { subject: "category", key: "categoryId", table: categories },
  brands: { subject: "brand", key: "brandId", table: brands }
} as const

/** The id of a group; a missing category is created below its parent, else as a root, a missing brand with its name. */
const groupId = (
  group: GroupName,
  slug: string,
  record: NamedProduct,
  state: ProductState & BatchContext,
  draft: RowBatch
): string => {
  const found = state[group].get(slug)
  if (found !== undefined) return found
  const { name, parent } = record.named?.[group].get(slug) ?? { name: undefined, parent: null }
  const blank = group === "brands" ? blankBrand(slug, state.organizationId) : blankCategory(slug)
  const payload = group === "brands"
    ? { ...blank, displayName: name ?? slug }
    : {
      ...blank,
      parentId: parent === null ? null : CategoryId.make(groupId(group, parent, record, state, draft)),
      metadata: name === undefined ? {} : { titles: { en: name } }
    }
  const { subject, table }: { readonly subject: "category" | "brand"; readonly table: Table<object> } = groups[group]
  state[group].set(slug, payload.id)
  draft.put(table, payload)
  draft.change({ type: `${group}.create`, entityType: subject, entityId: payload.id, payload })
  return payload.id
}

/** Replaces the links of an entity to its groups. Adds new groups to the state: the next record finds them. */
export const planLinks = (
  group: GroupName,
  entityId: EntityId,
  stored: StoredProduct | undefined,
  record: NamedProduct,
  state: ProductState & BatchContext,
  draft: RowBatch
): void => {
  const wanted = record[group]
  if (wanted === undefined) return
  const { key } = groups[group]
  const links: Table<object> = tables[group]
  const of = { entityType: "catalog_entity", entityId } as const
  const before = stored?.[group] ?? []
  const linked = new Set(before.map(({ slug }) => slug))
  for (const [sortOrder, slug] of [...new Set(wanted)].entries()) {
    if (linked.has(slug)) continue
    const payload = { entityId, [key]: groupId(group, slug, record, state, draft) }
    draft.put(links, { ...payload, sortOrder })
    draft.change({ type: `${group}.link`, ...of, payload })
  }
  for (const { id } of before.filter(({ slug }) => !wanted.includes(slug))) {
    const link = { entityId, [key]: id }
    draft.remove(links, link)
    draft.change({ type: `${group}.unlink`, ...of, payload: { ...link, deleted: true }, before: link })
  }
}
