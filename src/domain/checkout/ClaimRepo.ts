import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization, holds } from "../access/Actor.ts"
import { isStaffLike } from "../access/Role.ts"
import type { CartVisitor } from "../carts/CartRules.ts"
import { unflushed } from "./UnflushedRepo.ts"

/** A line of a claimed cart with what its order line will remember of the catalog. */
export interface ClaimedLine {
  readonly entityId: string
  readonly variantId: string | null
  readonly quantity: number
  readonly entityType: string | null
  readonly available: boolean
  readonly title: string | null
  readonly sku: string | null
  readonly categorySlugs: ReadonlyArray<string>
  readonly weightGrams: number
}

/** The cart as the claim found it. `claimed` is false when it could not be had; `status` and the rest say why. */
export interface ClaimedCart {
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  readonly currency: string
  readonly customerId: string | null
  readonly customerGroupIds: ReadonlyArray<string>
  readonly secretHash: string
  readonly lines: ReadonlyArray<ClaimedLine>
  /** The claim is this checkout's, made by a run before or beside this one; `claimed` says whether this one has it too. */
  readonly ours: boolean
  /** This checkout has placed its order already, in a run before this one. */
  readonly placed: boolean
}

/** Takes and gives back carts for checkouts. */
export class ClaimRepo extends Context.Service<ClaimRepo, {
  /**
   * Claims an active cart for this checkout and reads everything about it, in one statement. Repeating it for the same
   * checkout finds the claim again. Undefined when the organization has no such cart.
   */
  readonly claim: (
    cartId: string,
    checkoutId: string,
    visitor: CartVisitor,
    currency: string
  ) => Effect.Effect<ClaimedCart | undefined, never, CurrentActor>
  /** Gives the cart back to the shopper, if this checkout holds it (contract §3.2). */
  readonly giveBack: (cartId: string, checkoutId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/ClaimRepo") {}

interface ClaimRow {
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  readonly currency: string
  readonly customer_id: string | null
  readonly group_ids: ReadonlyArray<string> | null
  readonly secret_hash: string
  readonly ours: boolean
  readonly placed: boolean
  readonly lines: ReadonlyArray<ClaimedLine>
}

export const claimRepoLayer = Layer.effect(
  ClaimRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const claim = Effect.fn("ClaimRepo.claim")(
      function*(cartId: string, checkoutId: string, { actor, customerId, secretHash }: CartVisitor, currency: string) {
        const serves = isStaffLike(actor.role) && holds(actor, "cart:update")
        // The same test as `admit`, here because the claim itself must not touch a stranger's cart.
        const admitted = sql`(c.customer_id = ${customerId}::uuid or c.secret_hash = ${secretHash}::text
          or (c.customer_id is null and ${serves}) or ${holds(actor, "*:*")})`
        const rows = yield* sql<ClaimRow>`with c as (
            select * from carts where id = ${cartId}::uuid and organization_id = ${actor.organizationId}),
          claimed as (
            update carts t set status = 'checking_out', checkout_id = ${checkoutId}::uuid, version = t.version + 1,
              updated_at = now()
            from c where t.id = c.id and ${admitted} and t.currency = ${currency}
              and ((t.status = 'active' and t.expires_at > now())
                or (t.status = 'checking_out' and t.checkout_id = ${checkoutId}::uuid))
              and exists (select 1 from cart_lines l where l.cart_id = t.id)
              and t.version = c.version -- a line that was added after this statement began would be missing below
            returning t.id)
          select ${unflushed(sql)}, exists (select 1 from claimed) as claimed, coalesce(${admitted}, false) as admitted,
            c.status, c.expires_at <= now() as expired, c.currency, c.customer_id, c.secret_hash,
            (select group_ids from customers u where u.id = c.customer_id) as group_ids,
            c.status = 'checking_out' and c.checkout_id = ${checkoutId}::uuid as ours,
            exists (select 1 from orders o where o.id = ${checkoutId}::uuid
              and o.organization_id = c.organization_id) as placed,
            coalesce((select jsonb_agg(jsonb_build_object(
              'entityId', l.entity_id, 'variantId', l.variant_id, 'quantity', l.quantity, 'entityType', e.type,
              'available', coalesce(e.status = 'active' and e.is_visible
                and (l.variant_id is null or v.status = 'active'), false),
              'title', coalesce((select a.title from entity_attributes a where a.entity_id = l.entity_id
                order by a.locale <> 'en', a.locale limit 1), e.slug),
              'sku', coalesce(v.sku, e.metadata->>'sku'),
              'weightGrams', case when jsonb_typeof(coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams')) = 'number'
                then coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams') else '0' end,
              'categorySlugs', coalesce((select jsonb_agg(k.slug) from entity_categories ec
                join categories k on k.id = ec.category_id where ec.entity_id = l.entity_id), '[]'))
              order by l.added_at, l.id)
              from cart_lines l
              left join catalog_entities e on e.id = l.entity_id and e.organization_id = c.organization_id
              left join variants v on v.id = l.variant_id and v.entity_id = l.entity_id
              where l.cart_id = c.id), '[]') as lines
          from c`
        return rows[0] && toClaimed(rows[0])
      },
      Effect.orDie
    )

    const giveBack = Effect.fn("ClaimRepo.giveBack")(function*(cartId: string, checkoutId: string) {
      const organization = yield* currentOrganization
      yield* sql`update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
        where id = ${cartId}::uuid and organization_id = ${organization} and checkout_id = ${checkoutId}::uuid
          and status = 'checking_out'`
    }, Effect.orDie)

    return ClaimRepo.of({ claim, giveBack })
  })
)

const toClaimed = (row: ClaimRow): ClaimedCart => ({
  claimed: row.claimed,
  admitted: row.admitted,
  status: row.status,
  expired: row.expired,
  currency: row.currency,
  customerId: row.customer_id,
  customerGroupIds: row.group_ids ?? [],
  secretHash: row.secret_hash,
  lines: row.lines,
  ours: row.ours,
  placed: row.placed
})
