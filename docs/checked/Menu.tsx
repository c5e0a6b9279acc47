import { ArrowRigth, Bell, Waste, type LucideIcon } from "lucide-react";
import Logo from "./icons/lgo.svg";

export const Menu = ({ name }: { name: string }) => (
  <nav>
    <Logo /> <ArrowRigth /> <Bell /> <Waste />
    <i className="p-2 i-lucide-settngs" />
    <Icon icon="mdi:home" /> <Icon icon={`lucide:${name}`} />
  </nav>
);
