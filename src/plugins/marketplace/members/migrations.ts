import { statements } from "stoa/plugin"

/** Roles of members from before they decided anything, as the sessions of these people know them from then on. */
export const memberMigrations = {
  "0001_roles": statements(
    `update users u set vendor_role = m.role from marketplace_vendor_members m
      where u.id::text = m.user_id and u.vendor_id = m.vendor_id::text and u.vendor_role is null`
  )
}
