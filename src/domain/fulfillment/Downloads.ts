import { Context, DateTime, Effect, Layer, Redacted, Struct } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import { forbidden, notFound } from "../platform/errors/ErrorKinds.ts"
import { type FulfillmentId, isUuid, type OrderId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { type Download, type Fulfillment, type Granted, isOpen } from "./Fulfillment.ts"
import { FulfillmentRepo } from "./FulfillmentRepo.ts"

type DownloadKey = Redacted.Redacted<Uint8Array>

/**
 * The first key signs, all are accepted. Without a key no links are created: a default key would let links be forged.
 */
export class DownloadKeys
  extends Context.Service<DownloadKeys, ReadonlyArray<DownloadKey>>()("stoa/domain/fulfillment/DownloadKeys")
{
  static readonly layerOf = (keys: ReadonlyArray<DownloadKey>): Layer.Layer<DownloadKeys> =>
    Layer.succeed(DownloadKeys, keys)
}

interface DownloadLink {
  readonly fulfillmentId: FulfillmentId
  readonly expires: number
}

const signatureOf = ({ expires, fulfillmentId }: DownloadLink, key: DownloadKey): Uint8Array =>
  createHmac("sha256", Redacted.value(key)).update(`${fulfillmentId}\n${expires}`).digest()

const signedLink = (link: DownloadLink, [key]: ReadonlyArray<DownloadKey>): string | null => {
  if (key === undefined) return null
  const signature = Buffer.from(signatureOf(link, key)).toString("base64url")
  return `/api/downloads/${link.fulfillmentId}?expires=${link.expires}&signature=${signature}`
}

/** Compares in constant time. */
const isSigned = (link: DownloadLink, signature: string, keys: ReadonlyArray<DownloadKey>): boolean => {
  const shown = Buffer.from(signature, "base64url")
  return keys.some((key) => {
    const expected = signatureOf(link, key)
    return shown.length === expected.length && timingSafeEqual(shown, expected)
  })
}

class DownloadNotFound extends notFound("Download", "Download not found.") {}

class DownloadEnded extends forbidden("Download", "This download link can no longer be used.") {}

interface ShownLink {
  readonly expires?: string | undefined
  readonly signature?: string | undefined
}

/** Bought files (spec §4 `/me/orders/:orderId/downloads`, contract §5, platform §7). */
export class Downloads extends Context.Service<Downloads>()("stoa/domain/fulfillment/Downloads", {
  make: Effect.gen(function*() {
    const repo = yield* FulfillmentRepo
    const orders = yield* CustomerOrders
    const keys = yield* DownloadKeys
    const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

    /** The link expires with the grant: repeated reads return the same link. */
    const linkOf = (granted: Granted, now: Date): string | null => {
      if (!isOpen(granted, now)) return null
      const expires = Math.floor(granted.expiresAt.getTime() / 1000)
      return signedLink({ fulfillmentId: granted.fulfillmentId, expires }, keys)
    }

    /** The files of the caller's order, with links. 404, 403. */
    const ofOwn = Effect.fn("Downloads.ofOwn")(function*(orderId: OrderId, page: PageRequest) {
      const order = yield* orders.findOwn(orderId)
      const [granted, now] = [yield* repo.filesOf(order.id, page), yield* clock]
      const items = granted.items.map((one): Download => ({
        ...Struct.pick(one, ["lineItemId", "title", "variantTitle"]),
        downloadUrl: linkOf(one, now),
        downloadsRemaining: one.valid ? one.remaining : 0,
        expiresAt: one.expiresAt
      }))
      return { ...granted, items }
    })

    const linked = Effect.fn("Downloads.linked")(function*(orderId: OrderId, all: ReadonlyArray<Fulfillment>) {
      if (!all.some(({ type }) => type === "digital-download")) return all
      const [granted, now] = [yield* repo.filesOf(orderId, { page: 1, limit: 100 }), yield* clock]
      const links = new Map(granted.items.map((one) => [one.fulfillmentId, linkOf(one, now)]))
      return all.map((one) => {
        const downloadUrl = links.get(one.id)
        return downloadUrl === undefined || downloadUrl === null ? one : { ...one, downloadUrl }
      })
    })

    /**
     * Counts a download and returns the file's location. 404 without a valid signature, 403 for a link that expired, is
     * used up, or belongs to a cancelled or refunded order.
     */
    const follow = Effect.fn("Downloads.follow")(
      function*(fulfillmentId: string, { expires, signature }: ShownLink) {
        if (!isUuid<FulfillmentId>(fulfillmentId)) return yield* new DownloadNotFound()
        const link = { fulfillmentId, expires: Number(expires) }
        if (signature === undefined || !isSigned(link, signature, keys)) return yield* new DownloadNotFound()
        const now = yield* clock
        const file = link.expires * 1000 > now.getTime() ? yield* repo.takeFile(fulfillmentId, now) : undefined
        return file ?? (yield* new DownloadEnded())
      }
    )

    return { ofOwn, linked, follow }
  })
}) {
  static readonly layer = Layer.effect(Downloads, Downloads.make)
}
