import { Layer } from "effect"
import { queuedMailsLayer } from "../../domain/mail/QueuedMails.ts"
import { defineModule } from "../../domain/modules/Module.ts"

/** Mails to shoppers and people of the store (docs/mail.md). Needs the settings and the way out (`MailAdapters.ts`). */
export const mail = defineModule({
  id: "mail",
  version: "1.0.0",
  requires: ["tenancy", "events", "jobs"],
  permissions: [],
  migrations: {},
  services: queuedMailsLayer,
  routes: Layer.empty
})
