import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import {
  type Answer,
  api,
  asAdmin,
  type Call,
  inOrganization,
  sharedApp,
  testAppLayer
} from "../../../../test/support/TestApp.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import { marketplace } from "../index.ts"
import type { MarketplaceSettings } from "../MarketplaceOptions.ts"
import { asVendor } from "./MarketBuilder.ts"

const shared = sharedApp({ plugins: [marketplace()] })

/** A group of tests around a shop with the marketplace: a shared service, or a separate one for other options. */
export const withMarketplace = (options?: Partial<MarketplaceSettings>, deployment: DeploymentConfig = {}) =>
  layer(options === undefined ? shared : testAppLayer({ ...deployment, plugins: [marketplace(options)] }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })

/** Jobs run only when a test runs them. */
export const withoutWorker = { jobs: { autorun: { enabled: false } } } as const

/** Sends a request eight times at once: one succeeds with 201, the others are refused. */
export const assertOnce = Effect.fnUntraced(function*<E, R>(call: Effect.Effect<Answer, E, R>, refusedWith = 422) {
  const answers = yield* Effect.all(Array.from({ length: 8 }, () => call), { concurrency: 8 })
  const statuses = answers.map(({ status }) => status).sort()
  assert.deepStrictEqual(statuses, [201, ...Array.from({ length: 7 }, () => refusedWith)])
  return answers.find(({ status }) => status === 201)
})

let vendors = 0

/** How often an event of a record was announced. */
export const announced = (type: string, id: string) =>
  Effect.map(
    onDatabase((sql) => sql`select 1 from outbox_events where type = ${type} and entity_id = ${id}`),
    (rows) => rows.length
  )

export const path = (rest = "") => `/api/marketplace/vendors${rest}`

/** A request of an operator of the marketplace. */
export const admin = (method: string, rest: string, body?: unknown) =>
  api(method, path(rest), body === undefined ? { as: asAdmin } : { as: asAdmin, body })

/** A pending vendor; gives its id. */
export const aVendor = Effect.fnUntraced(function*(body: object = {}) {
  const made = yield* admin("POST", "", { name: `Vendor ${++vendors}`, ...body })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return made.text("data.id")
})

/** One that may sell. */
export const anApprovedVendor = Effect.fnUntraced(function*(body: object = {}) {
  const id = yield* aVendor(body)
  assert.strictEqual((yield* admin("POST", `/${id}/approve`)).status, 201)
  return id
})

export const suspend = (id: string) => admin("POST", `/${id}/suspend`, { reason: "Nothing arrives." })

/** The administrator of another store. */
export const outsider = inOrganization("org_other", asAdmin)

export const portal = (vendorId: string, method: string, rest: string, body?: unknown) =>
  api(
    method,
    `/api/marketplace/vendor/me${rest}`,
    body === undefined ? { as: asVendor(vendorId) } : {
      as: asVendor(vendorId),
      body
    }
  )

/** Status and code of what was answered. */
export const refusal = (call: ReturnType<typeof api>) =>
  Effect.map(call, (answer) => [answer.status, answer.at("error.code")])

export const aDocument = (type = "identity") => ({ type, fileUrl: `https://files.example.com/${type}.pdf` })

export type { Call }
