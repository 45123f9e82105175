import { appointments } from "../src/plugins/appointments/index.ts"
import { createPluginTestApp, type PluginTestApp, testAdminActor } from "../src/plugins/kit/testing/StoaTesting.ts"
import { percentile } from "./measure/Figures.ts"
import { atMost, heading, record } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"

const providers = 50
const bookingsEach = 500
const warmUp = 20

const send = async ({ app }: PluginTestApp, method: string, path: string, body?: object): Promise<unknown> => {
  const request = { as: testAdminActor, ...(body && { body }) }
  const { body: got, status } = await app.request(method, `/api/appointments${path}`, request)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(got)}`)
  return Reflect.get(Object(got), "data")
}
const idOf = (row: unknown): string => String(Reflect.get(Object(row), "id"))

/** Providers who work from nine to five with a break, in three zones, each with appointments on their way. */
const seed = async (app: PluginTestApp): Promise<string> => {
  const service = idOf(
    await send(app, "POST", "/services", { name: "Cut", slug: "cut", maxAdvanceDays: 400, minNoticeMins: 0 })
  )
  const zones = ["Europe/Vienna", "America/New_York", "Asia/Tokyo"]
  const week = [1, 2, 3, 4, 5].map((dayOfWeek) => ({ dayOfWeek, startTime: "09:00", endTime: "17:00" }))
  for (let n = 0; n < providers; n++) {
    const id = idOf(await send(app, "POST", "/providers", { name: `Provider ${n}`, timezone: zones[n % zones.length] }))
    await send(app, "POST", `/providers/${id}/services`, { serviceTypeId: service })
    await send(app, "PUT", `/availability/${id}/weekly`, { schedules: week })
    await send(app, "POST", `/availability/${id}/breaks`, { startTime: "12:00", endTime: "13:00" })
    await app.db.query(
      `insert into appointment_bookings (id, organization_id, provider_id, service_type_id, customer_id, customer_name,
          customer_email, start_time, end_time, blocked_from, blocked_until, payment_method, price_cents, currency)
        select gen_random_uuid(), 'org_default', $1, $2, 'c', 'C', 'c@example.com', t, t + interval '30 minutes', t,
          t + interval '30 minutes', 'cash', 0, 'USD'
        from (select date_trunc('hour', now()) + n * interval '17 hours' as t from generate_series(1, ${bookingsEach}) n) times`,
      [id, service]
    )
  }
  await app.db.query("vacuum analyze appointment_bookings")
  return service
}

/** The free times of a year of all providers of a service, one request after the other. */
export const runSlots = async (options: Options): Promise<void> => {
  const rounds = options.flows ?? 300
  heading(
    `slots: a year of ${providers} providers with ${bookingsEach} appointments each, ${rounds} requests, one at a time`
  )
  const postgres = await startBenchPostgres()
  const app = await createPluginTestApp(appointments(), { postgres: { url: await postgres.create("slots") } })
  try {
    const service = await seed(app)
    const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
    const path = `/availability/slots?from=${day(0)}&to=${day(365)}&serviceTypeId=${service}`
    const times = []
    for (let round = 0; round < rounds + warmUp; round++) {
      const began = performance.now()
      await send(app, "GET", path)
      if (round >= warmUp) times.push(performance.now() - began)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
    record("slots", { rounds, p50, p99 })
    atMost("p99 of a year's slots", p99, 50, " ms")
  } finally {
    await app.close()
    await postgres.stop()
  }
}
