import { inject } from "@effect/vitest"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testCustomerActor,
  withPermissions
} from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
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

/** A store that takes appointments. */
export const openSalon = async (
  options: Parameters<typeof appointments>[0] = {},
  config: PluginTestOptions = {}
) => {
  const mails: Array<SentMail> = []
  const send = async ({ data, template, to }: { template: string; to: string; data: object }) =>
    void mails.push({ template, to, data: { ...data } })
  const app = await createPluginTestApp(appointments(options), {
    postgres: inject("postgres"),
    rateLimits: { api: 1_000_000, checkout: 1_000_000 },
    email: { send },
    ...config
  })
  let made = 0

  const every = callsOf(app, "/appointments")
  /** Customers book with the address of their login, unless a wish says otherwise. */
  const addressed = (path: string, body: unknown, as: TestActor | null | undefined) =>
    !path.endsWith("/bookings") || body === undefined
      ? body
      : { customerEmail: as?.email ?? "ann@example.com", ...Object(body) }
  const calls: typeof every = {
    ...every,
    ask: (method, path, body, as, headers) => every.ask(method, path, addressed(path, body, as), as, headers),
    done: (method, path, body, as) => every.done(method, path, addressed(path, body, as), as),
    refused: (expected, method, path, body, as) => every.refused(expected, method, path, addressed(path, body, as), as)
  }
  const { done } = calls

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
    const whole = { name: "Grace", email: "g@example.com", phone: "1", ...body }
    const id = (await done("POST", "/providers", whole)).text("data.id")
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
    paymentMethod: "cash",
    ...more
  })
  const book = async (as: TestActor, ...wished: Parameters<typeof wish>) =>
    (await done("POST", "/bookings", wish(...wished), as)).text("data.booking.id")
  /** The beginnings of the free times of a provider on a day: `HH:mm` in UTC. */
  const slots = async (providerId: string, serviceTypeId: string, date: string, as?: TestActor | null) => {
    const path = `/availability/${providerId}/slots?date=${date}&serviceTypeId=${serviceTypeId}`
    return (await done("GET", path, undefined, as)).list("data").map((one) => Object(one).start.slice(11, 16))
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
    ...calls,
    mails,
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
