import { assert, inject } from "@effect/vitest"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testAdminActor,
  testCustomerActor,
  withPermissions
} from "stoa/plugin/testing"
import { answer } from "../../../../test/support/ServiceCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { appointments } from "../index.ts"

/** A mail as the salon's mailer got it. */
export interface SentMail {
  readonly template: string
  readonly to: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A customer with what the role gives them. */
export const customer = (name: string): TestActor => ({
  ...withPermissions([...testCustomerActor.permissions, "appointments:book"], testCustomerActor),
  userId: `user-${name}`,
  email: `${name}@example.com`,
  name
})

const everyDay = (startTime: string, endTime: string) =>
  Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, startTime, endTime }))

/** A store that takes appointments: every request by the admin unless it says who asks. Paths are those after `/appointments`. */
export const openSalon = async (
  options: Parameters<typeof appointments>[0] = {},
  config: PluginTestOptions = {}
) => {
  const mails: Array<SentMail> = []
  const send = async ({ data, template, to }: { template: string; to: string; data: object }) =>
    void mails.push({ template, to, data: { ...data } })
  const app = await createPluginTestApp(appointments(options), {
    postgres: inject("postgres").url,
    rateLimits: { api: 1_000_000, checkout: 1_000_000 },
    email: { send },
    ...config
  })
  let made = 0

  const ask = async (method: string, path: string, body?: unknown, as: TestActor | null = testAdminActor) => {
    const sent = { ...(as && { as }), ...(body === undefined ? {} : { body }) }
    const { body: got, headers, status } = await app.app.request(method, `/api${path}`, sent)
    return answer(status, headers, got)
  }
  /** Fails unless the request is done. */
  const done = async (method: string, path: string, body?: unknown, as?: TestActor | null) => {
    const got = await ask(method, `/appointments${path}`, body, as)
    assert.isBelow(got.status, 300, `${method} ${path}: ${JSON.stringify(got.body)}`)
    return got
  }
  const refused = async (expected: string, method: string, path: string, body?: unknown, as?: TestActor | null) => {
    const got = await ask(method, `/appointments${path}`, body, as)
    assert.strictEqual(`${got.status} ${got.text("error.code")}`, expected, JSON.stringify(got.body))
    return got
  }

  const service = async (body: object = {}) => {
    const whole = { name: "Cut", slug: `cut-${++made}`, durationMinutes: 60, minNoticeMins: 0, ...body }
    return (await done("POST", "/services", whole)).text("data.id")
  }
  /** Someone who offers a service, from 09:00 to 17:00 unless it says otherwise. */
  const provider = async (
    serviceTypeId: string,
    { link = {}, week = everyDay("09:00", "17:00"), ...body }:
      & { link?: object; week?: ReadonlyArray<object> }
      & Readonly<Record<string, unknown>> = {}
  ) => {
    const id = (await done("POST", "/providers", { name: "Grace", email: "g@example.com", phone: "1", ...body })).text(
      "data.id"
    )
    await done("POST", `/providers/${id}/services`, { serviceTypeId, ...link })
    await done("PUT", `/availability/${id}/weekly`, { schedules: week })
    return id
  }
  /** A day so many days from now, in UTC. */
  const day = (ahead: number) => new Date(app.clock.now() + ahead * 86_400_000).toISOString().slice(0, 10)
  const at = (ahead: number, time: string) => `${day(ahead)}T${time}:00.000Z`
  const wish = (serviceTypeId: string, startTime: string, more: object = {}) => ({
    serviceTypeId,
    startTime,
    customerName: "Ann",
    customerEmail: "ann@example.com",
    paymentMethod: "cash",
    ...more
  })
  const book = async (as: TestActor, ...wished: Parameters<typeof wish>) =>
    (await done("POST", "/bookings", wish(...wished), as)).text("data.booking.id")
  /** The beginnings of the free times of a provider on a day: `HH:mm` in UTC. */
  const slots = async (providerId: string, serviceTypeId: string, date: string, as?: TestActor | null) => {
    const path = `/availability/${providerId}/slots?date=${date}&serviceTypeId=${serviceTypeId}`
    const found = (await done("GET", path, undefined, as)).at("data")
    return (Array.isArray(found) ? found : []).map(({ start }) => String(start).slice(11, 16))
  }
  const status = async (id: string) => (await done("GET", `/bookings/${id}`)).at("data.status")
  /** Runs a task and waits until a state is there. */
  const run = (task: string) => app.serviceRegistry.enqueue(`appointments/${task}`, {})
  const mailed = (template: string, to: string, data: object = {}) =>
    waitFor(
      `${template} to ${to} of ${mails.map((one) => `${one.template} ${one.to}`).join(", ")}`,
      () =>
        mails.some((one) =>
          one.template === `appointments/${template}` && one.to === to &&
          Object.entries(data).every(([name, value]) => one.data[name] === value)
        )
    )
  return {
    ...app,
    ...buildersOf(app),
    mails,
    ask,
    done,
    refused,
    service,
    provider,
    day,
    at,
    wish,
    book,
    slots,
    status,
    run,
    mailed
  }
}

export type Salon = Awaited<ReturnType<typeof openSalon>>
