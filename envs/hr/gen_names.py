"""Names of the people whom generated cases bring along: whole ones stand in no name of the snapshot."""

from __future__ import annotations

GIVEN = tuple(
    "Adriana Alasdair Amadou Amira Anneke Ansel Aram Astrid Benedikt Bogdan Branwen Camille Catarina Cedric Chidi "
    "Clemens Daphne Darius Dorota Edwin Eilidh Emeka Enrique Esther Fabio Farah Felipe Florian Freya Gareth Giulia "
    "Gustav Hakim Hedwig Helena Henrik Hugo Ibrahim Ilona Ingrid Isaac Ivana Jasper Joanna Jorge Judith Julius Karim "
    "Katja Kirsten Klara Konrad Lars Leila Leonie Levin Lorenzo Lucia Ludwig Magnus Malik Marek Margot Marta Mateo "
    "Matilda Mirjam Monika Nadine Natalia Nils Noemi Oksana Olga Orla Oscar Pablo Paloma Patrick Petra Philippa Rafael "
    "Rashid Renata Rosalind Rune Sabine Salma Sergio Sigrid Silvia Simon Sofia Stefan Svenja Tamara Tariq Teresa "
    "Theodor Thora Ulrike Valentin Vanessa Vera Viktor Vivian Wanda Wilma Xavier Yara Yusuf Zoltan".split()
)
"""Given names, none of which another one ends with."""

FAMILY = tuple(
    "Abbott Achterberg Adair Albrecht Alvarez Andersen Antonov Aslan Bachmann Barbosa Bartlett Becker Bergman Bianchi "
    "Blom Boateng Boswell Brandt Breuer Calloway Cardoso Castillo Cermak Chadwick Colombo Cooper Corbett Crawford "
    "Dahl Delgado Dijkstra Diallo Dobson Drummond Duarte Eberhart Eklund Ellery Engel Espinoza Everett Fagan Farouk "
    "Fernandes Fischer Fontaine Forsyth Friis Galvin Garland Gerritsen Gibbons Gonzalez Gray Greco Grootveld Gruber "
    "Haddad Hagen Halloran Hartog Haugen Heller Hendriks Herrera Hidalgo Holloway Horvat Huizinga Ibarra Ingram Ivanov "
    "Jagger Jarvis Jimenez Jonker Kaminski Keane Keller Kendrick Kessler Klein Knudsen Kovac Kramer Kruger Lambert "
    "Larsen Lefevre Lindgren Lopes Lorentz Lund Maddox Malone Marchetti Marsh Martins Mazur Mendes Mercer Molina "
    "Moreau Mueller Nash Navarro Nielsen Nolan Novak Nunes Oakley Obi Olsen Ortega Osman Paulsen Pavlov Perera Petit "
    "Pfeiffer Phillips Pieters Popescu Prins Quist Radford Ramirez Rasmussen Reuter Ricci Riedel Robles Roest Romano "
    "Rossi Roussel Ruiz Saleh Salomons Sandoval Schmidt Sharp Sheridan Silva Sinclair Sorensen Spencer Stam Steiner "
    "Stoker Suarez Svensson Talbot Teixeira Terpstra Thorne Timmer Toledo Torres Traore Turan Ulrich Underhill Urban "
    "Valdez Vargas Veenstra Vermeer Vidal Visscher Vogel Wagner Walters Warner Weber Weiss Wendell Westra Wexler "
    "Willems Winther Wolff Yates Younis Zabel Zeegers Zimmer Zuidema".split()
)
"""Family names, none of which another one begins with."""
