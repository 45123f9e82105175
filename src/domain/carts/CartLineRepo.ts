import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { journalRows } from "../events/JournalRepo.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { type Add, addStatement } from "./AddStatementRepo.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { lineJson } from "./CartEntryRepo.ts"
import { type LineRow, toLine } from "./CartRows.ts"

/**
 * How a write to a line ended: the line after it, no such line, more units than a line can hold, or a cart that others
 * have moved meanwhile.
 */
export type LineWrite = CartLine | "no-line" | "too-many" | "stale"

/** SQLSTATE of a number that does not fit its column: of all columns only a quantity is added up. */
const isTooMany = ({ reason }: SqlError.SqlError): boolean => /"code":"22003"/.test(JSON.stringify(reason))

/**
 * Changes to the lines of carts. Every write is one statement fenced by the cart's version and status: when another
 * writer, a checkout or the expiry came first, nothing is written, not even the event, and the caller is told.
 */
export class CartLineRepo extends Context.Service<CartLineRepo, {
  /** Adds a line, or raises the quantity of the line of the same sellable and takes the newer price; announces it. */
  readonly add: (from: CartState, line: CartLine) => Effect.Effect<LineWrite, never, CurrentActor>
  /** Sets a line's quantity. */
  readonly setQuantity: (
    from: CartState,
    lineId: string,
    quantity: number
  ) => Effect.Effect<LineWrite, never, CurrentActor>
  /** Takes a line out and gives it. */
  readonly remove: (from: CartState, lineId: string) => Effect.Effect<LineWrite, never, CurrentActor>
}>()("stoa/domain/carts/CartLineRepo") {}

const added = (line: LineRow | null): CartLine | "stale" => line === null ? "stale" : toLine(line)

/** The journal's entry of the line in the part `line`, which was what the part `found` says. */
const noted = (sql: SqlClient.SqlClient, actor: Actor, type: "cart.updateQuantity" | "cart.removeItem") =>
  journalRows(sql, actor, {
    type,
    entityType: "cart",
    entityId: "x.cart_id::text",
    payload: lineJson("x"),
    before: `(select ${lineJson("f")} from found f)`,
    from: "line x"
  })

/** `CartLineRepo` over the database of the process. */
export const cartLineRepoLayer = Layer.effect(
  CartLineRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** The fence of every write: same version, still active, not run out. */
    const moveVersion = ({ cart, version }: CartState) =>
      sql`update carts set version = version + 1, updated_at = now()
        where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
          and status = 'active' and expires_at > now()`

    const adding = yield* GroupCommit.make<Add, CartLine | "stale">({
      name: "carts.add",
      together: (adds) => {
        // Two adds to one cart come only from two actors of it, after a partition: the later one has its own statement.
        const first = new Map(adds.map((add) => [add.line.cartId, add] as const).reverse())
        const chosen = adds.filter((add) => first.get(add.line.cartId) === add)
        return Effect.map(addStatement(sql, chosen, "skip locked"), (rows) => {
          const done = new Map(rows.map(({ line, n }) => [chosen[n], added(line)]))
          return adds.map((add) => done.get(add))
        })
      },
      alone: (add) => Effect.map(addStatement(sql, [add], ""), ([row]) => added(row?.line ?? null))
    })

    const add = Effect.fn("CartLineRepo.add")(
      function*(from: CartState, line: CartLine) {
        return yield* adding({ from, line, actor: yield* CurrentActor })
      },
      Effect.catchTag("SqlError", (error) => isTooMany(error) ? Effect.succeed("too-many" as const) : Effect.die(error))
    )

    const written = (rows: ReadonlyArray<{ readonly found: boolean; readonly line: LineRow | null }>): LineWrite => {
      const row = rows[0]
      return row === undefined || !row.found ? "no-line" : row.line === null ? "stale" : toLine(row.line)
    }

    const foundLine = ({ cart }: CartState, lineId: string) =>
      sql`select * from cart_lines
        where cart_id = ${cart.id}::uuid and id = ${lineId}::uuid and organization_id = ${cart.organizationId}`

    const setQuantity = Effect.fn("CartLineRepo.setQuantity")(
      function*(from: CartState, lineId: string, quantity: number) {
        const actor = yield* CurrentActor
        const rows = yield* sql<{ readonly found: boolean; readonly line: LineRow | null }>`with
        found as (${foundLine(from, lineId)}),
        moved as (${moveVersion(from)} and exists (select 1 from found) returning id),
        line as (update cart_lines l set quantity = ${quantity} from moved
          where l.cart_id = moved.id and l.id = ${lineId}::uuid and l.organization_id = ${from.cart.organizationId}
          returning l.*),
        entry as (${noted(sql, actor, "cart.updateQuantity")})${mark(sql, actor, "line")}
        select exists (select 1 from found) as found, (select to_jsonb(line) from line) as line`
        return written(rows)
      },
      Effect.orDie
    )

    const remove = Effect.fn("CartLineRepo.remove")(function*(from: CartState, lineId: string) {
      const actor = yield* CurrentActor
      const rows = yield* sql<{ readonly found: boolean; readonly line: LineRow | null }>`with
        found as (${foundLine(from, lineId)}),
        moved as (${moveVersion(from)} and exists (select 1 from found) returning id),
        line as (delete from cart_lines l using moved
          where l.cart_id = moved.id and l.id = ${lineId}::uuid and l.organization_id = ${from.cart.organizationId}
          returning l.*),
        entry as (${noted(sql, actor, "cart.removeItem")})${mark(sql, actor, "line")}
        select exists (select 1 from found) as found, (select to_jsonb(line) from line) as line`
      return written(rows)
    }, Effect.orDie)

    return CartLineRepo.of({ add, setQuantity, remove })
  })
)
