import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { type Forbidden, NotFound } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { CustomerNote, NewNote, OrderNote } from "./OrderNote.ts"
import { OrderNoteRepo } from "./OrderNoteRepo.ts"
import { OrderRepo } from "./OrderRepo.ts"
import { OwnOrders } from "./OwnOrders.ts"

/** Notes of staff about orders (contract §4.4). 404 for a missing order or note. */
export class OrderNotes extends Context.Service<OrderNotes, {
  /** A page of all notes, oldest first. */
  readonly list: (orderId: string, page: PageRequest) => Effect.Effect<PageOf<OrderNote>, NotFound, CurrentActor>
  readonly create: (orderId: string, sent: NewNote) => Effect.Effect<OrderNote, NotFound, CurrentActor>
  readonly remove: (orderId: string, id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /**
   * An internal note in the transaction that creates its order. The order carries the idempotency record, so the note
   * does not.
   */
  readonly noteWith: (orderId: string, text: string) => Effect.Effect<void, never, CurrentActor>
  /** Notes that customers may read on their orders, oldest first. 404, 403. */
  readonly listOfOwn: (
    idOrNumber: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<CustomerNote>, NotFound | Forbidden, CurrentActor>
}>()("stoa/domain/orders/OrderNotes") {
  static readonly layer = Layer.effect(
    OrderNotes,
    Effect.gen(function*() {
      const repo = yield* OrderNoteRepo
      const orders = yield* OrderRepo
      const own = yield* OwnOrders

      const list = Effect.fn("OrderNotes.list")(function*(orderId: string, page: PageRequest) {
        if ((yield* orders.find(orderId)) === undefined) return yield* NotFound.of("Order not found.")
        return yield* repo.list(orderId, undefined, page)
      })

      const create = Effect.fn("OrderNotes.create")(function*(orderId: string, sent: NewNote) {
        const note = yield* newNote(orderId, sent)
        return (yield* repo.insert(note)) ? note : yield* NotFound.of("Order not found.")
      })

      const remove = Effect.fn("OrderNotes.remove")(function*(orderId: string, id: string) {
        if (!(yield* repo.remove(orderId, id))) return yield* NotFound.of("Note not found.")
      })

      const noteWith = Effect.fn("OrderNotes.noteWith")(function*(orderId: string, text: string) {
        const { executionId: _, ...actor } = yield* CurrentActor
        const inserted = repo.insert(yield* newNote(orderId, { text }))
        yield* Effect.provideService(inserted, CurrentActor, actor)
      })

      const listOfOwn = Effect.fn("OrderNotes.listOfOwn")(function*(idOrNumber: string, page: PageRequest) {
        const found = yield* repo.list((yield* own.find(idOrNumber)).id, "customer", page)
        return { ...found, items: found.items.map(({ createdAt, id, text }) => ({ id, text, createdAt })) }
      })

      return { list, create, remove, noteWith, listOfOwn }
    })
  )
}

const newNote = Effect.fnUntraced(function*(orderId: string, { text, visibility = "internal" }: NewNote) {
  const actor = yield* CurrentActor
  const note: OrderNote = {
    id: newId(),
    organizationId: actor.organizationId,
    orderId,
    text,
    visibility,
    authorId: actor.userId ?? actor.keyId ?? null,
    authorName: actor.name,
    createdAt: DateTime.toDateUtc(yield* DateTime.now)
  }
  return note
})
