import { type Migrations, statements } from "stoa/plugin"

/** Guests have no profile. */
export const reviewMigrations: Migrations = {
  "0001_guests": statements(
    "alter table customer_reviews alter column customer_id drop not null",
    "alter table customer_review_requests alter column customer_id drop not null"
  )
}
