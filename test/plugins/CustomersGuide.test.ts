import { assert, inject, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createPluginTestApp, type TestActor, testCustomerActor, withPermissions } from "stoa/plugin/testing"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { notifications } from "../../src/plugins/notifications/index.ts"
import { reviewsPlugin } from "../../src/plugins/reviews/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { waitFor } from "../support/waitFor.ts"
import { runGuide } from "./GuideRequests.ts"

/** Someone with the role `customer`, as the plugins widen it. */
const customer = (name: string): TestActor => ({
  ...withPermissions([
    ...testCustomerActor.permissions,
    "cart:update",
    "orders:create",
    "customers:read:self",
    "reviews:write",
    "notifications:write",
    "scheduled-orders:create",
    "scheduled-orders:read",
    "appointments:book"
  ], testCustomerActor),
  userId: `user-${name}`,
  email: `${name}@example.com`,
  name
})

/** What the service runs each minute or quarter of an hour. */
const tasks = [
  "reviews/request",
  "scheduled-orders/notice",
  "scheduled-orders/process-due",
  "appointments/reminder",
  "appointments/auto-cancel"
]

/** The token of a link. */
const tokenIn = (link: unknown) => decodeURIComponent(/[?&]token=([^&>]+)/.exec(String(link))?.[1] ?? "")

it("a reader of docs/customers-come-back.md gets what it says, and the mails that it names", async () => {
  const mails: Array<string> = []
  /** Tokens of the mails that ask for reviews, by whose they are. */
  const tokens: Record<string, { readonly token: string; readonly decline: string }> = {}
  const test = await createPluginTestApp(
    [
      reviewsPlugin({ reviewPage: "https://shop.example/review" }),
      notifications(),
      scheduledOrders({ timezone: "Europe/Vienna" }),
      appointments()
    ],
    {
      postgres: inject("postgres"),
      email: {
        send: async ({ data, headers, template, to }) => {
          mails.push(`${template} ${to}`)
          if (template !== "reviews/request") return
          const token = tokenIn(Reflect.get(Object(data), "link"))
          tokens[`${to.split("@")[0]}sMail`] = { token, decline: tokenIn(headers["List-Unsubscribe"]) }
        }
      }
    }
  )
  try {
    const guide = await readFile(join(import.meta.dirname, "../../docs/customers-come-back.md"), "utf8")
    const rows = async (...query: Parameters<typeof test.db.query>) => (await test.db.query(...query)).length
    const later = async () => {
      const unknown = `select 1 from orders o where status = 'fulfilled'
        and not exists (select 1 from customer_review_requests r where r.order_id = o.id)`
      await waitFor("the deliveries' events", async () => await rows(unknown) === 0)
      await Promise.all(tasks.map((task) => test.serviceRegistry.enqueue(task, {})))
      // Also those that the schedule began, which take rows from these, and what they have enqueued: a notice is no more
      // sent once its order is placed.
      const open = "select 1 from commerce_jobs where task_slug = any($1) and status in ('pending', 'processing')"
      await waitFor(
        "the jobs",
        async () => await rows(open, [[...tasks, "scheduled-orders/notify", "mail/send"]]) === 0
      )
      return tokens
    }
    const customers = { ann: customer("ann"), bob: customer("bob") }
    await runGuide(test.app, guide, { clock: test.clock, customers, later })
    const named = [
      "reviews/request ann@example.com",
      "reviews/request carl@example.com",
      "scheduled-orders/notice ann@example.com",
      "scheduled-orders/price-review ann@example.com",
      "appointments/opening bob@example.com"
    ]
    await waitFor(`the mails: ${mails.join(", ")}`, () => named.every((one) => mails.includes(one)))
    assert.lengthOf(mails.filter((one) => one.startsWith("reviews/")), 2)
  } finally {
    await test.close()
  }
})
