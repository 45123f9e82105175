import { Schema } from "effect"
import {
  changeLogRows,
  CurrentActor,
  EntityId,
  offsetOf,
  type PageRequest,
  rowJson,
  rowsOf,
  statement
} from "stoa/plugin"
import { ShownVendor, vendorEntities, VendorProduct } from "./VendorProduct.ts"

const total = Schema.Int
const links = rowsOf(Schema.Union([
  Schema.Struct({ ...VendorProduct.fields, total }),
  // A page beyond the end still has its total: one row without a link.
  Schema.Struct({ id: Schema.Null, total })
]))
const owners = rowsOf(Schema.Struct({ ...ShownVendor.fields, entityId: EntityId }))
const idLists = rowsOf(Schema.Struct({ ids: Schema.Array(EntityId) }))

/** A page of a vendor's things, newest first, in one statement. */
export const productsOf = statement(
  "VendorProductRepo.productsOf",
  function*(sql, organization, vendorId: string, page: PageRequest) {
    const rows = yield* links(sql`select n.total, l.id, l.vendor_id as "vendorId", l.entity_id as "entityId", e.type,
        e.slug, e.status, l.created_at as "createdAt", (select a.title from plugin_entity_titles a
          where a.entity_id = e.id order by a.locale <> 'en', a.locale limit 1) as title
      from (select count(*) as total from marketplace_vendor_entities
        where organization_id = ${organization} and vendor_id = ${vendorId}::uuid) n
      left join lateral (select * from marketplace_vendor_entities
        where organization_id = ${organization} and vendor_id = ${vendorId}::uuid
        order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) l on true
      left join plugin_entities e on e.id = l.entity_id and e.organization_id = ${organization}
      order by l.created_at desc, l.id desc`)
    const items = rows.flatMap(({ total: _, ...product }) => product.id === null ? [] : [product])
    return { ...page, items, total: rows[0]?.total ?? 0 }
  }
)

/** Whose these things are, by their ids, in one statement; what is the store's own has no entry. */
export const vendorsOf = statement(
  "VendorProductRepo.vendorsOf",
  function*(sql, organization, entityIds: ReadonlyArray<EntityId>) {
    const rows = yield* owners(sql`select l.entity_id as "entityId", v.id, v.name,
        v.slug, v.status, v.tier, v.logo_url as "logoUrl"
      from marketplace_vendor_entities l join marketplace_vendors v on v.id = l.vendor_id
      where l.organization_id = ${organization} and v.organization_id = ${organization}
        and l.entity_id = any(${entityIds}::uuid[])`)
    return new Map(rows.map(({ entityId, ...vendor }) => [entityId, vendor]))
  }
)

/** Ids of all things of a vendor; undefined when the organization has no such vendor. */
export const idsOf = statement("VendorProductRepo.idsOf", function*(sql, organization, vendorId: string) {
  const [row] = yield* idLists(sql`select array(
      select l.entity_id from marketplace_vendor_entities l
      where l.organization_id = ${organization} and l.vendor_id = v.id) as ids
    from marketplace_vendors v where v.organization_id = ${organization} and v.id = ${vendorId}::uuid`)
  return row?.ids
})

/** Whose an entity is, and whose its metadata says it is; of no entity that the catalog does not have. */
const Claimed = Schema.Struct({ vendorId: Schema.NullOr(Schema.String), claim: Schema.NullOr(Schema.String) })
const claims = rowsOf(Claimed)

export const claimed = statement("VendorProductRepo.claimed", function*(sql, organization, entityId: EntityId) {
  const [row] = yield* claims(sql`select l.vendor_id as "vendorId", lower(e.metadata->>'vendorId') as claim
    from plugin_entities e
    left join marketplace_vendor_entities l on l.organization_id = ${organization} and l.entity_id = e.id
    where e.organization_id = ${organization} and e.id = ${entityId}::uuid`)
  return row
})

/** An entity, and the vendor whose it shall be. */
export interface ProductLink {
  readonly vendorId: string
  readonly entityId: EntityId
}

const subject = "marketplace/marketplace_vendor_entities"

/** Writes links with their entries in the change log, in one statement. */
export const insertLinks = statement(
  "VendorProductRepo.insertLinks",
  function*(sql, organization, links: ReadonlyArray<ProductLink>) {
    const actor = yield* CurrentActor
    const recorded = changeLogRows(sql, actor, {
      type: `${subject}.create`,
      entityType: subject,
      entityId: "made.id::text",
      payload: rowJson(vendorEntities, "made"),
      from: "made"
    })
    yield* sql`with made as (
        insert into marketplace_vendor_entities (organization_id, vendor_id, entity_id)
        select ${organization}, v.id, i.entity_id
        from unnest(${links.map(({ vendorId }) => vendorId)}::uuid[], ${links.map(({ entityId }) => entityId)}::uuid[])
          as i(vendor_id, entity_id)
        join marketplace_vendors v on v.id = i.vendor_id and v.organization_id = ${organization}
        on conflict (organization_id, entity_id) do nothing
        returning *),
      recorded as (${recorded})
      select 1`
  }
)
