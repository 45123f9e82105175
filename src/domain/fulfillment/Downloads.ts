import { Context, DateTime, Effect, Layer } from "effect"
import { Forbidden, NotFound } from "../errors/ApiErrors.ts"
import { isUuid } from "../ids/Id.ts"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { type Download, type Granted, isOpen } from "./Download.ts"
import { DownloadKeys, isSigned, signedLink } from "./DownloadLink.ts"
import { DownloadRepo } from "./DownloadRepo.ts"
import type { Fulfillment } from "./Fulfillment.ts"

/** The content of a link. */
export interface ShownLink {
  readonly expires?: string | undefined
  readonly signature?: string | undefined
}

/** Bought files (spec §4 `/me/orders/:orderId/downloads`, contract §5, platform §7). */
export class Downloads extends Context.Service<Downloads>()("stoa/domain/fulfillment/Downloads", {
  make: Effect.gen(function*() {
    const repo = yield* DownloadRepo
    const orders = yield* CustomerOrders
    const keys = yield* DownloadKeys
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    /** The link expires with the grant, so that repeated reads return the same link. */
    const linkOf = (granted: Granted, now: Date): string | null => {
      if (!isOpen(granted, now)) return null
      const expires = Math.floor(granted.expiresAt.getTime() / 1000)
      return signedLink({ fulfillmentId: granted.fulfillmentId, expires }, keys)
    }

    /** A page of the files of the caller's order, with download links. 404, 403. */
    const ofOwn = Effect.fn("Downloads.ofOwn")(function*(orderId: string, page: PageRequest) {
      const order = yield* orders.findOwn(orderId)
      const [granted, now] = [yield* repo.ofOrder(order.id, page), yield* clock]
      const items = granted.items.map((one): Download => ({
        lineItemId: one.lineItemId,
        title: one.title,
        downloadUrl: linkOf(one, now),
        downloadsRemaining: one.valid ? one.remaining : 0,
        expiresAt: one.expiresAt
      }))
      return { ...granted, items }
    })

    /** Fulfillments of an order, with links for those whose file can be fetched now. */
    const linked = Effect.fn("Downloads.linked")(function*(orderId: string, all: ReadonlyArray<Fulfillment>) {
      if (!all.some(({ type }) => type === "digital-download")) return all
      const [granted, now] = [yield* repo.ofOrder(orderId, { page: 1, limit: 100 }), yield* clock]
      const links = new Map(granted.items.map((one) => [one.fulfillmentId, linkOf(one, now)]))
      return all.map((one) => {
        const downloadUrl = links.get(one.id)
        return downloadUrl === undefined || downloadUrl === null ? one : { ...one, downloadUrl }
      })
    })

    /**
     * Follows a signed link: counts a download and returns the file's location. 404 for a link without a valid signature,
     * 403 for one that expired, is used up, or belongs to a cancelled or refunded order.
     */
    const follow = Effect.fn("Downloads.follow")(function*(fulfillmentId: string, { expires, signature }: ShownLink) {
      const link = { fulfillmentId, expires: Number(expires) }
      if (!isUuid(fulfillmentId) || signature === undefined || !isSigned(link, signature, keys)) {
        return yield* NotFound.of("Download not found.")
      }
      const now = yield* clock
      const file = link.expires * 1000 > now.getTime() ? yield* repo.take(fulfillmentId, now) : undefined
      return file ?? (yield* Forbidden.of("This download link can no longer be used."))
    })

    return { ofOwn, linked, follow }
  })
}) {
  static readonly layer = Layer.effect(Downloads, Downloads.make)
}
