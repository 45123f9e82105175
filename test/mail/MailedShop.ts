import { Effect, Option, Redacted } from "effect"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import type { SmtpSettings } from "../../src/layers/config/MailConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct, putInto } from "../support/Purchase.ts"
import { api, testAppLayer } from "../support/TestApp.ts"

/** A mail server of tests on this port. */
export const over = (port: number, settings: Partial<SmtpSettings> = {}): SmtpSettings => ({
  host: "127.0.0.1",
  port,
  secure: false,
  starttls: "opportunistic",
  ca: undefined,
  login: undefined,
  from: "orders@shop.example",
  connections: 5,
  connectTimeoutMs: 2_000,
  answerTimeoutMs: 10_000,
  sendTimeoutMs: 10_000,
  ...settings
})

/** A shop that sends its mails to a port of this machine, when a test runs its jobs. */
export const shopMailingTo = (port: number, deployment: DeploymentConfig = {}, settings: Partial<AppSettings> = {}) =>
  testAppLayer({
    jobs: { autorun: { enabled: false } },
    ...deployment,
    email: {
      from: "orders@shop.example",
      smtp: { host: "127.0.0.1", port, connectTimeoutMs: 2_000, answerTimeoutMs: 10_000, sendTimeoutMs: 10_000 },
      ...deployment.email
    }
  }, settings)

/** The same settings over the database that another service has left. */
export const onThe = (databaseUrl: string): Partial<AppSettings> => ({
  databaseUrl: Option.some(Redacted.make(databaseUrl))
})

/** A guest's cart with a product and this address. */
export const aCartOf = Effect.fnUntraced(function*(email: string | undefined) {
  const made = yield* api("POST", "/api/carts", { body: { currency: "USD", ...(email ? { email } : {}) } })
  const cart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
  yield* putInto(cart, yield* aProduct({ price: 1250 }), 2)
  return cart
})

/** A job of a mail, as its row has it. */
export interface MailJob {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly error: string | null
  readonly output: unknown
  /** All of the row, as text. */
  readonly row: string
}

/** The mails about an order, oldest first; without an id, the mails about no order. */
export const jobsAbout = (orderId: string | undefined) =>
  onDatabase((sql) =>
    sql<MailJob>`select id, status, attempts, error, output, j::text as row from commerce_jobs j
      where queue = 'mail' and (input->>'orderId') is not distinct from ${orderId ?? null} order by created_at, id`
  )

/** Runs the mails that are waiting, as if the time of each had come, until a state is reached. */
export const mailing = <A, R>(description: string, ask: Effect.Effect<A, never, R>) =>
  eventually(
    description,
    onDatabase((sql) =>
      sql`update commerce_jobs set wait_until = now() where queue = 'mail' and status = 'pending' and wait_until is not null`
    ).pipe(Effect.andThen(api("POST", "/api/jobs/run?queue=mail&limit=100")), Effect.andThen(ask))
  )
