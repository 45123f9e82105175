import { Effect, Layer } from "effect"
import { EventSubscribers } from "../../domain/events/EventSubscribers.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { InvoiceMails } from "../../domain/mail/InvoiceMails.ts"
import { OrderMailRepo } from "../../domain/mail/OrderMailRepo.ts"
import { orderMails } from "../../domain/mail/OrderMails.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { sendMail } from "../mail/MailDeliveries.ts"
import { queuedMailsLayer } from "../mail/QueuedMails.ts"

const subscription = Layer.effectDiscard(
  Effect.flatMap(orderMails, (hear) => Effect.flatMap(EventSubscribers, (all) => all.register(hear)))
)

/** Mails to shoppers and people of the store (docs/mail.md). Needs the settings and the way out (`MailAdapters.ts`). */
export const mail = defineModule({
  id: "mail",
  requires: ["tenancy", "events", "jobs", "customers", "carts", "orders", "invoices"],
  services: Layer.mergeAll(subscription, Tasks.add(sendMail), InvoiceMails.layer).pipe(
    Layer.provideMerge(Layer.merge(queuedMailsLayer, OrderMailRepo.layer))
  ),
  routes: Layer.empty
})
