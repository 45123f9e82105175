import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { newId, type OrderId, type OrderNoteId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { emailKey } from "../platform/text/Email.ts"
import { CustomerOrders } from "./CustomerOrders.ts"
import { OrderNotFound } from "./Order.ts"
import { type NewNote, NoteNotFound, type OrderNote } from "./OrderHistory.ts"
import { lookupSize, type LookupTerms, OrderRecordsRepo } from "./OrderRecordsRepo.ts"
import { OrderRepo } from "./OrderRepo.ts"

/** Look-ups, timelines and notes of orders (contract §4.4). 404 for a missing order or note. */
export class OrderRecords extends Context.Service<OrderRecords>()("stoa/domain/orders/OrderRecords", {
  make: Effect.gen(function*() {
    const [repo, orders, own] = yield* Effect.all([OrderRecordsRepo, OrderRepo, CustomerOrders])

    /**
     * By number, by its last digits in any year, or by the beginning of an e-mail address or name. At most 50, newest
     * first.
     */
    const lookup = Effect.fn("OrderRecords.lookup")(function*(text: string) {
      const items = yield* repo.lookup(termsOf(text.trim()))
      return { items, page: 1, limit: lookupSize, total: items.length }
    })

    const timeline = Effect.fn("OrderRecords.timeline")(function*(orderId: OrderId, page: PageRequest) {
      return (yield* repo.timeline(orderId, page)) ?? (yield* new OrderNotFound())
    })

    const notes = Effect.fn("OrderRecords.notes")(function*(orderId: OrderId, page: PageRequest) {
      if ((yield* orders.find(orderId)) === undefined) return yield* new OrderNotFound()
      return yield* repo.notes(orderId, undefined, page)
    })

    const addNote = Effect.fn("OrderRecords.addNote")(function*(orderId: OrderId, sent: NewNote) {
      const note = yield* newNote(orderId, sent)
      return (yield* repo.insertNote(note)) ? note : yield* new OrderNotFound()
    })

    const removeNote = Effect.fn("OrderRecords.removeNote")(function*(orderId: OrderId, id: OrderNoteId) {
      if (!(yield* repo.removeNote(orderId, id))) return yield* new NoteNotFound()
    })

    const noteNewOrder = Effect.fn("OrderRecords.noteNewOrder")(function*(orderId: OrderId, text: string) {
      const { executionId: _, ...actor } = yield* CurrentActor
      const inserted = repo.insertNote(yield* newNote(orderId, { text }))
      yield* Effect.provideService(inserted, CurrentActor, actor)
    })

    /** Notes that customers may read on their orders, oldest first. 404, 403. */
    const ownNotes = Effect.fn("OrderRecords.ownNotes")(function*(idOrNumber: string, page: PageRequest) {
      const found = yield* repo.notes((yield* own.findOwn(idOrNumber)).id, "customer", page)
      return { ...found, items: found.items.map(({ createdAt, id, text }) => ({ id, text, createdAt })) }
    })

    return { lookup, timeline, notes, addNote, removeNote, noteNewOrder, ownNotes }
  })
}) {
  static readonly layer = Layer.effect(OrderRecords, OrderRecords.make)
}

const termsOf = (text: string): LookupTerms => ({
  number: text.toUpperCase(),
  digits: /^\d{1,19}$/.test(text) ? text.padStart(6, "0") : null,
  beginning: emailKey(text)
})

const newNote = Effect.fnUntraced(function*(orderId: OrderId, { text, visibility = "internal" }: NewNote) {
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
