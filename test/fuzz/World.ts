import { Effect } from "effect"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { type SignedIn, signIn } from "../access/People.ts"
import { makeOutbox } from "../auth/Visitors.ts"
import { shelfLayer } from "../media/MediaFixtures.ts"
import { asStaff, inOrganization } from "../support/TestApp.ts"
import type { Store } from "../tenancy/Stores.ts"
import { authWalk } from "./AuthWalk.ts"
import type { Cast, Target } from "./Fuzz.ts"
import { marketWalk } from "./MarketWalk.ts"
import {
  changeStore,
  declineWalk,
  downloadWalk,
  guestWalk,
  mediaWalk,
  messageWalk,
  oddsWalk,
  openStore,
  organizationOf,
  staffWalk,
  webhookWalk
} from "./StoreWalk.ts"

const outbox = makeOutbox()

/** A deployment that offers everything the document has. */
export const wholeDeployment = shelfLayer({
  plugins: [marketplace()],
  email: { send: outbox.send },
  auth: {
    requireEmailVerification: false,
    allowOrganizationCreation: true,
    apiKeys: { enabled: true },
    roles: { owner: ["*:*"] },
    storeResolver: (request: Request) => request.headers.get("x-store-id"),
    socialProviders: { google: { clientId: "shop", clientSecret: "a secret of the shop's" } }
  },
  // Everybody of the fuzz comes from one address.
  rateLimits: {
    api: 1e9,
    auth: 1e9,
    session: 1e9,
    checkout: 1e9,
    promotionTrial: 1e9,
    media: 1e9,
    signInPerEmail: 1e9,
    mailPerRecipient: 1e9
  }
})

const header = (actor: object) => ({ "x-test-actor": JSON.stringify(actor) })

/** Requests after which somebody else signs in, since many requests end a session. */
const requestsPerSession = 20

/** The caller: mostly one with the permission, and sometimes another or none. */
const castOf = (target: Target, store: Store, vendor: object): Cast => {
  const organization = organizationOf(store)
  const { chance, oneOf } = target.source.random
  const [admin, buyer, seller] = [header(store.as), header(store.buyer), header(vendor)]
  const others: ReadonlyArray<Readonly<Record<string, string>>> = [
    header(inOrganization(organization, asStaff)),
    buyer,
    seller,
    { "x-store-id": organization }
  ]
  let requests = 0
  let person: SignedIn | undefined
  const session = Effect.gen(function*() {
    if (person === undefined || requests++ % requestsPerSession === 0) {
      person = yield* signIn({ active: organization, organization, role: "owner" })
    }
    return person.bearer
  })
  return ({ name, path }) => {
    if (chance(0.1)) return Effect.succeed(oneOf(others) ?? {})
    // A deleted user sends no further requests.
    if (name === "DELETE /api/me") return Effect.map(signIn({ active: organization }), ({ bearer }) => bearer)
    if (path.startsWith("/api/auth/")) return session
    if (path.startsWith("/api/me")) return Effect.succeed(buyer)
    if (path.startsWith("/api/marketplace/vendor/me")) return Effect.succeed(seller)
    return Effect.succeed(admin)
  }
}

/** Takes every way once in a new organization, so that each operation succeeds; gives who may go on there. */
export const everyWay = Effect.fnUntraced(function*(target: Target, organization: string) {
  const store = yield* target.walk(openStore(organization, `buyer-of-${organization}`))
  const [{ vendor }] = yield* target.walk(Effect.all([
    marketWalk(store, organization),
    authWalk(outbox),
    Effect.all([
      mediaWalk(store),
      downloadWalk(store),
      guestWalk(store),
      declineWalk(store),
      staffWalk(store),
      oddsWalk(store)
    ])
  ], { concurrency: "unbounded" }))
  yield* target.walk(Effect.all([webhookWalk(store), messageWalk(store), changeStore(store)]))
  return castOf(target, store, vendor)
})
