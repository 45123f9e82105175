import { Layer } from "effect"
import { MailChoices } from "../../domain/mail/MailChoices.ts"
import { migrations } from "../../domain/mail/migrations.ts"
import { OrderMailRepo } from "../../domain/mail/OrderMailRepo.ts"
import { InvoiceMails, orderMails } from "../../domain/mail/OrderMails.ts"
import { OrderMessages } from "../../domain/mail/OrderMessages.ts"
import { PluginMails } from "../../domain/mail/PluginMails.ts"
import { EventSubscribers } from "../../domain/platform/events/EventSubscribers.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { mailHttp, messagesHttp } from "../../http/mail/MailHttp.ts"
import { queuedMailsLayer } from "../mail/QueuedMails.ts"
import { sendMail } from "../mail/SentMails.ts"
import { carts } from "./carts.ts"
import { customers } from "./customers.ts"
import { events } from "./events.ts"
import { invoices } from "./invoices.ts"
import { jobs } from "./jobs.ts"
import { orders } from "./orders.ts"
import { ratelimits } from "./ratelimits.ts"
import { tenancy } from "./tenancy.ts"

/** Mails to shoppers and staff (docs/mail.md). Needs settings and a transport (`MailAdapters.ts`). */
export const mail = defineModule({
  id: "mail",
  requires: [tenancy, ratelimits, events, jobs, customers, carts, orders, invoices],
  migrations,
  services: Layer.mergeAll(
    EventSubscribers.add(orderMails),
    Tasks.add(sendMail),
    InvoiceMails.layer,
    OrderMessages.layer
  ).pipe(
    Layer.provideMerge(PluginMails.layer),
    Layer.provideMerge(Layer.mergeAll(queuedMailsLayer, MailChoices.layer)),
    Layer.provideMerge(OrderMailRepo.layer)
  ),
  routes: Layer.merge(mailHttp, messagesHttp)
})
